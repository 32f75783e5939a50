"use strict";
/* The runs of a folder, asked for again every two seconds: the first page of `ohr view`. */
ohr.runs = { every: 2000 };

ohr.runs.time = (seconds) => {
  if (seconds === null) return "";
  if (seconds < 90) return `${Math.round(seconds)} s left`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min left` : `${(seconds / 3600).toFixed(1)} h left`;
};
ohr.runs.phases = (run) => run.phases.map((phase) => ohr.make("p", { class: "phase" },
  ohr.make("progress", { max: Math.max(phase.total, 1), value: phase.done, "aria-label": `${phase.name} of ${run.name}` }),
  ` ${phase.name}: ${phase.done.toLocaleString("en")} of ${phase.total.toLocaleString("en")} `, ohr.make("span", { class: "muted" }, run.status === "running" && phase.left ? ohr.runs.time(phase.left) : "")));
ohr.runs.one = (run) => ohr.make("article", { class: "listed" },
  ohr.make("h2", {}, run.path && run.status === "finished" ? ohr.make("a", { href: run.path }, run.name) : run.name),
  ohr.make("p", { class: "muted" }, [run.folder, run.status + (run.reason ? `: ${run.reason}` : ""), run.questions === null ? "" : `${run.questions.toLocaleString("en")} questions`, run.failures ? `${run.failures.toLocaleString("en")} failed items` : ""].filter(Boolean).join(" · ")),
  run.status === "finished" ? "" : ohr.runs.phases(run), run.last ? ohr.make("p", { class: "note" }, `Last failure: ${run.last}`) : "");

ohr.runs.show = async () => {
  const place = document.querySelector("[data-runs]");
  let found;
  try { found = await ohr.fetch("/runs"); } catch { place.replaceChildren(ohr.make("p", { class: "note" }, "The server of this page has ended.")); return; }
  const state = JSON.stringify(found);
  if (state !== ohr.runs.state) {
    ohr.runs.state = state;
    const at = document.activeElement?.getAttribute("href");
    place.replaceChildren(...(found.length ? found.map(ohr.runs.one) : [ohr.make("p", { class: "muted" }, "No runs yet.")]));
    if (at) [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === at)?.focus();
  }
  setTimeout(ohr.runs.show, ohr.runs.every);
};
try { const theme = localStorage.getItem("ohr-theme"); if (["auto", "light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme; } catch { /* none */ }
ohr.runs.show().then(() => { document.documentElement.dataset.ready = "yes"; });
