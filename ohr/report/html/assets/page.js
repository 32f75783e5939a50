"use strict";
/* The page itself: theme, run, printing. */
ohr.theme = (name) => {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("ohr-theme", name); } catch { /* a page from a disk may have no storage */ }
  return ohr.charts.drawAll();
};

ohr.show = (run) => {
  document.querySelectorAll("[data-run]").forEach((article) => { article.hidden = article.dataset.run !== run; });
  return Promise.all([ohr.charts.drawAll(), ohr.questions.set(run)]);
};

ohr.begin = async () => {
  const themes = document.getElementById("theme"), chooser = document.getElementById("run-chooser"), dialog = document.getElementById("question");
  let kept = null;
  try { kept = localStorage.getItem("ohr-theme"); } catch { /* none */ }
  if (["auto", "light", "dark"].includes(kept)) { document.documentElement.dataset.theme = kept; themes.value = kept; }
  themes.addEventListener("change", () => ohr.theme(themes.value));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => ohr.charts.drawAll());
  chooser?.addEventListener("change", () => ohr.show(chooser.value));
  dialog.addEventListener("close", () => { ohr.question.from?.focus?.(); ohr.question.from = null; });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  let width = innerWidth, waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { if (innerWidth !== width) { width = innerWidth; ohr.charts.drawAll(); } }, 150); });
  let closed = [];
  addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("details:not([open])")]; closed.forEach((part) => { part.open = true; }); });
  addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
  const first = document.querySelector("[data-run]:not([hidden])");
  if (first) await ohr.show(first.dataset.run);
  document.documentElement.dataset.ready = "yes";
};
ohr.begin();
