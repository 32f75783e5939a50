"use strict";
/* The list of runs, followed while one is in progress. Text is put into the page as text only. */
const rows = document.getElementById("runs"), live = document.getElementById("live");
const make = (name, about, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const count = (value) => (value === null || value === undefined ? "" : Number(value).toLocaleString("en"));
const left = (seconds) => {
  if (seconds === null) return "";
  if (seconds < 90) return `, about ${Math.round(seconds)} s left`;
  return seconds < 5400 ? `, about ${Math.round(seconds / 60)} min left` : `, about ${(seconds / 3600).toFixed(1)} h left`;
};
const phase = (one) => make("div", { class: "phase" },
  make("span", { class: "muted" }, `${one.name}: ${count(one.done)} of ${count(one.total)}${one.done < one.total ? left(one.left) : ""} `),
  make("progress", { max: one.total || 1, value: one.done, "aria-label": one.name }));
const row = (run) => make("tr", {},
  make("td", {}, run.status === "finished" ? make("a", { href: `/run/${encodeURIComponent(run.name)}/${encodeURIComponent(run.folder)}/` }, run.name) : run.name, " ", make("span", { class: "muted" }, run.folder)),
  make("td", {}, run.started ?? ""),
  make("td", {}, run.status, run.why ? make("div", { class: "muted" }, run.why) : null, ...(run.phases ?? []).map(phase)),
  ...["questions", "documents", "failures"].map((name) => make("td", { class: "number" }, count(run[name]))));
let shown = "";
const follow = async () => {
  try {
    const text = await (await fetch("/runs.json")).text();
    if (text !== shown) {
      shown = text;
      const runs = JSON.parse(text);
      rows.replaceChildren(...runs.map(row));
      const going = runs.filter((run) => run.status === "running").length;
      live.textContent = going ? `${going} running` : "";
      document.getElementById("none")?.remove();
    }
  } catch { live.textContent = "ohr view has ended"; }
  setTimeout(follow, 1500);
};
follow();
