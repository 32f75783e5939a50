"use strict";
/* Charts, drawn again when the theme or the width changes. Each has its table under it. */
ohr.charts = {};

ohr.charts.palette = () => [0, 1, 2, 3, 4, 5].map((place) => ohr.color(`--c${place}`));
/* A color for each retriever; for each pair where there are several generators; ink where there is no retriever. */
ohr.charts.domain = (data) => {
  const systems = [...data.dots, ...Object.values(data.curves ?? {}).flat().flatMap((panel) => panel.marks)].map((row) => row.system);
  const several = new Set(systems.map(([, generator]) => generator).filter(Boolean)).size > 1;
  const key = ([retriever, generator]) => (several ? [retriever, generator].filter(Boolean).join(" + ") : retriever) || "no retriever";
  const domain = [...new Set(systems.map(key))].sort((a, b) => (a === "no retriever") - (b === "no retriever"));
  const range = ohr.charts.palette();
  const colors = domain.map((name, place) => (name === "no retriever" ? ohr.color("--ink") : range[place % range.length]));
  return { domain, range: colors, key, of: (system) => colors[domain.indexOf(key(system))] };
};
ohr.charts.system = (row) => row.system.filter(Boolean).join(" + ");
ohr.charts.legend = (colors, lines) => ohr.make("ul", { class: "legend" },
  colors.domain.map((name, place) => {
    const swatch = ohr.make("i"); swatch.style.background = colors.range[place];
    return ohr.make("li", {}, swatch, name);
  }), lines.map(([kind, name]) => ohr.make("li", {}, ohr.make("i", { class: `line ${kind}` }), name)));

ohr.charts.plot = (width, label, options) => {
  const drawn = Plot.plot({
    width, ariaLabel: label, style: { background: "transparent", color: ohr.color("--ink"), fontSize: "12px" },
    ...options,
  });
  const picture = drawn.tagName.toLowerCase() === "svg" ? drawn : drawn.querySelector("svg");
  picture.setAttribute("role", "img");
  return drawn;
};
ohr.charts.panel = (title, note, drawn) => ohr.make("figure", { class: "panel" },
  ohr.make("figcaption", {}, title, " ", ohr.make("span", { class: "muted" }, note)), drawn);
ohr.charts.names = { all: "All questions", text: "Text", multimodal: "Tables, formulas, charts", reading_order: "Reading order" };

/* Score against noise: a panel for each stage. */
ohr.charts.curves = (data, state, width) => {
  const axes = Object.keys(data.curves);
  state.axis = axes.includes(state.axis) ? state.axis : axes[0];
  const groups = [...new Set(data.curves[state.axis].map((panel) => panel.group))].sort((a, b) => (b === "all") - (a === "all"));
  state.group = groups.includes(state.group) ? state.group : groups[0];
  const panels = data.curves[state.axis].filter((panel) => panel.group === state.group);
  const colors = ohr.charts.domain(data);
  const names = { r_noise: "r_noise: share of questions with damaged evidence", evidence_loss: "Share of the evidence's words lost" };
  const switches = [ohr.charts.switch("Questions", groups, state.group, ohr.charts.names, (group) => { state.group = group; })];
  if (axes.length > 1) switches.push(ohr.charts.switch("Noise", axes, state.axis, { r_noise: "r_noise", evidence_loss: "evidence loss" }, (axis) => { state.axis = axis; }));
  const noises = new Map(panels.flatMap((panel) => panel.marks).filter((mark) => mark.type !== "none").map((mark) => [mark.noise, mark.type]));
  const symbols = new Map([...noises.keys()].map((noise, place) => [noise, ohr.charts.symbols[place % ohr.charts.symbols.length]]));
  const drawn = panels.map((panel) => ohr.charts.panel(panel.stage, panel.metric, ohr.charts.curve(panel, colors, symbols, names[state.axis], width(panels.length))));
  const lines = [...noises].map(([noise, type]) => [type === "semantic" ? "dashed" : "", `${symbols.get(noise)[1]} ${noise}`]);
  const bounds = panels.some((panel) => panel.bounds.length) ? [["dotted", "floor and ceiling"]] : [];
  const legend = ohr.charts.legend(colors, [...lines, ...bounds]);
  return [ohr.make("div", { class: "switches" }, switches), legend, ohr.make("div", { class: "panels" }, drawn)];
};
ohr.charts.switch = (label, choices, chosen, names, choose) => ohr.make("div", { role: "group", "aria-label": label },
  choices.map((choice) => ohr.make("button", { type: "button", "aria-pressed": String(choice === chosen), onclick: (event) => {
    choose(choice); ohr.charts.draw(event.target.closest("[data-chart]"), true);
  } }, names[choice] || choice)));
ohr.charts.symbols = [["circle", "●"], ["square", "■"], ["triangle", "▲"], ["diamond", "◆"], ["cross", "✚"], ["asterisk", "✱"]];
ohr.charts.curve = (panel, colors, symbols, xLabel, width) => {
  const known = panel.marks.filter((mark) => mark.mean !== null && mark.x !== null);
  const curves = (type) => known.filter((mark) => mark.type === type);
  const z = (mark) => `${ohr.charts.system(mark)}|${mark.noise}`, stroke = (mark) => colors.of(mark.system);
  const grey = ohr.color("--muted");
  const reach = Math.max(...known.map((mark) => mark.x), 0.01);
  const limits = panel.bounds.flatMap((bound) => bound.x.length
    ? [Plot.line(bound.y.map((y, place) => ({ x: bound.x[place], y })), { x: "x", y: "y", stroke: grey, strokeDasharray: "1 3" })]
    : [Plot.ruleY([bound.y[0]], { stroke: grey, strokeDasharray: "1 3" })]);
  const named = panel.bounds.filter((bound, place, all) => all.findIndex((other) => other.which === bound.which) === place)
    .map((bound) => (bound.which === "floor" ? { x: 0, y: bound.y[0], which: "floor" } : { x: reach, y: bound.y.at(-1), which: "ceiling" }));
  return ohr.charts.plot(width, `${panel.stage} ${panel.metric} against ${xLabel}`, {
    height: Math.max(220, Math.min(300, width * 0.72)), marginLeft: 40, marginBottom: 40, grid: true,
    x: { label: xLabel, domain: [0, reach * 1.04], nice: false, labelAnchor: "center", labelArrow: "none", ticks: 5 },
    y: { label: null, domain: [0, Math.max(0.1, ...known.map((mark) => Math.max(mark.mean, mark.high ?? 0)), ...panel.bounds.flatMap((bound) => bound.y))], nice: true, ticks: 5 },
    marks: [
      ...limits,
      ["floor", "ceiling"].map((which) => Plot.text(named, { filter: (bound) => bound.which === which, x: "x", y: "y", text: "which", fill: grey, textAnchor: which === "floor" ? "start" : "end", dx: which === "floor" ? 8 : 0, dy: -7 })),
      Plot.areaY(known, { filter: (mark) => mark.low !== null && mark.type !== "none", x: "x", y1: "low", y2: "high", z, fill: stroke, fillOpacity: 0.1 }),
      Plot.ruleX(known, { filter: (mark) => mark.low !== null && mark.type === "none", x: "x", y1: "low", y2: "high", stroke, strokeOpacity: 0.6 }),
      Plot.line(curves("formatting"), { x: "x", y: "mean", z, stroke, strokeWidth: 1.8 }),
      Plot.line(curves("semantic"), { x: "x", y: "mean", z, stroke, strokeWidth: 1.8, strokeDasharray: "5 3" }),
      Plot.dot(known, { x: "x", y: "mean", r: 3.5, symbol: (mark) => (mark.type === "none" ? "star" : symbols.get(mark.noise)[0]), stroke, fill: (mark) => (mark.few ? ohr.color("--paper") : stroke(mark)), strokeWidth: 1.6 }),
      Plot.tip(known, Plot.pointer({ x: "x", y: "mean", fill: ohr.color("--paper"), stroke: ohr.color("--line"), title: (mark) => `${mark.condition}\n${ohr.charts.system(mark)}\n${ohr.number(mark.mean)} [${ohr.number(mark.low)}, ${ohr.number(mark.high)}]\nx = ${ohr.number(mark.x)}, n = ${mark.n}` })),
    ],
  });
};

/* A dot for each condition and pipeline: scores, or losses. */
ohr.charts.dots = (data, width, what) => {
  const [mean, low, high] = what === "lost" ? ["lost", "lost_low", "lost_high"] : ["mean", "low", "high"];
  const rows = data.dots.filter((row) => row[mean] !== null && (what !== "lost" || row.noise_type !== "none"));
  const stages = [...new Set(rows.map((row) => row.stage))];
  if (!rows.length) return [];
  const colors = ohr.charts.domain(data);
  const drawn = stages.map((stage) => {
    const here = rows.filter((row) => row.stage === stage);
    return ohr.charts.panel(what === "lost" ? `${stage}: lost` : stage, here[0].metric, ohr.charts.dot(here, { mean, low, high, what, stage }, colors, width(stages.length)));
  });
  return [ohr.charts.legend(colors, []), ohr.make("div", { class: "panels" }, drawn)];
};
ohr.charts.dot = (rows, { mean, low, high, what, stage }, colors, width) => {
  const conditions = [...new Set(rows.map((row) => row.condition))], y = ohr.charts.system, pipelines = [...new Set(rows.map(y))], stroke = (row) => colors.of(row.system);
  const longest = Math.max(...conditions.map((name) => name.length));
  const least = Math.min(0, ...rows.map((row) => Math.min(row[mean], row[low] ?? 0)));
  const most = Math.max(0.05, ...rows.map((row) => Math.max(row[mean], row[high] ?? 0)));
  return ohr.charts.plot(width, `${stage}: ${what} by condition and pipeline`, {
    height: 48 + conditions.length * (10 + 14 * pipelines.length), marginLeft: Math.min(150, 16 + longest * 6.6), marginTop: 4, marginBottom: 40,
    x: { label: what === "lost" ? "← gained   lost to noise →" : "score", labelAnchor: "center", labelArrow: "none", domain: [least, most], nice: true, grid: true, ticks: 5 },
    y: { axis: null, domain: pipelines, padding: 0.5 }, fy: { label: null, domain: conditions, padding: 0, axis: "left", tickFormat: (name) => (name.length > 20 ? `${name.slice(0, 19)}…` : name) },
    marks: [
      Plot.ruleX([0], { stroke: ohr.color("--muted") }),
      Plot.ruleY(rows, { filter: (row) => row[low] !== null, fy: "condition", y, x1: low, x2: high, stroke, strokeWidth: 1.6 }),
      Plot.dot(rows, { fy: "condition", y, x: mean, r: 4, stroke, strokeWidth: 1.6, fill: (row) => (row.few ? ohr.color("--paper") : stroke(row)) }),
      Plot.tip(rows, Plot.pointer({ fy: "condition", y, x: mean, fill: ohr.color("--paper"), stroke: ohr.color("--line"), title: (row) => `${row.condition}\n${y(row)}\n${ohr.number(row[mean])} [${ohr.number(row[low])}, ${ohr.number(row[high])}]` })),
    ],
  });
};

/* Four classes: was the OCR right, was the answer right. */
ohr.charts.classes = (data, width) => {
  const names = ["ocr_right_answer_right", "ocr_wrong_answer_right", "ocr_right_answer_wrong", "ocr_wrong_answer_wrong"];
  const labels = ["both right", "OCR wrong, answer right", "OCR right, answer wrong", "both wrong"];
  const range = [0, 5, 4, 1].map((place) => ohr.color(`--c${place}`));
  const groups = [...new Set(data.classes.map((row) => `${row.stage}\t${row.pipeline}`))];
  const panels = groups.map((group) => {
    const [stage, pipeline] = group.split("\t");
    const rows = data.classes.filter((row) => row.stage === stage && row.pipeline === pipeline && row.n)
      .flatMap((row) => names.map((name, place) => ({ label: row.label, share: row[name], kind: labels[place] })));
    const bars = [...new Set(rows.map((row) => row.label))];
    const longest = Math.max(0, ...bars.map((name) => name.length));
    return ohr.charts.panel(stage, pipeline, ohr.charts.plot(width(groups.length), `${stage}, ${pipeline}: shares of the four classes by condition`, {
      height: 44 + 22 * bars.length, marginLeft: Math.min(150, 16 + longest * 6.6), marginTop: 4,
      x: { label: "share of questions", percent: false, labelAnchor: "center", labelArrow: "none", domain: [0, 1], ticks: 5 },
      y: { label: null, domain: bars, padding: 0.25 }, color: { domain: labels, range },
      marks: [Plot.barX(rows, { x: "share", y: "label", fill: "kind", order: labels, title: (row) => `${row.label}\n${row.kind}: ${ohr.number(row.share, 2)}`, insetRight: 1 })],
    }));
  });
  return groups.length ? [ohr.charts.legend({ domain: labels, range }, []), ohr.make("div", { class: "panels" }, panels)] : [];
};

/* The loss by stage: a panel for each pipeline, a color for each quantity. */
ohr.charts.decomposition = (data, width) => {
  const groups = [...new Set(data.decomposition.map((row) => `${row.stage}\t${row.pipeline}`))];
  const quantities = [...new Set(data.decomposition.map((row) => row.quantity))], range = ohr.charts.palette();
  const stroke = (row) => range[quantities.indexOf(row.quantity) % range.length];
  const panels = groups.map((group) => {
    const [stage, pipeline] = group.split("\t");
    const rows = data.decomposition.filter((row) => row.stage === stage && row.pipeline === pipeline && row.value !== null);
    const conditions = [...new Set(rows.map((row) => row.condition))], longest = Math.max(0, ...conditions.map((name) => name.length));
    return ohr.charts.panel(stage, `${rows[0]?.metric ?? ""} ${pipeline}`, ohr.charts.plot(width(groups.length), `${stage}, ${pipeline}: loss by stage and condition`, {
      height: 48 + conditions.length * (10 + 11 * quantities.length), marginLeft: Math.min(150, 16 + longest * 6.6), marginTop: 4, marginBottom: 40,
      x: { label: "share of the score", labelAnchor: "center", labelArrow: "none", nice: true, grid: true, ticks: 5 },
      y: { axis: null, domain: quantities, padding: 0.5 }, fy: { label: null, domain: conditions, padding: 0.12, axis: "left", tickFormat: (name) => (name.length > 20 ? `${name.slice(0, 19)}…` : name) },
      marks: [
        Plot.ruleX([0], { stroke: ohr.color("--muted") }),
        Plot.ruleY(rows, { filter: (row) => row.low !== null, fy: "condition", y: "quantity", x1: "low", x2: "high", stroke, strokeWidth: 1.6 }),
        Plot.dot(rows, { fy: "condition", y: "quantity", x: "value", r: 3.5, stroke, fill: stroke, title: (row) => `${row.condition}\n${row.quantity}\n${ohr.number(row.value)} [${ohr.number(row.low)}, ${ohr.number(row.high)}]` }),
      ],
    }));
  });
  return groups.length ? [ohr.charts.legend({ domain: quantities, range: quantities.map((_, place) => range[place % range.length]) }, []), ohr.make("div", { class: "panels" }, panels)] : [];
};

ohr.charts.most = 200; /* rows of a dot plot beyond which only its table is of use */
ohr.charts.draw = async (place, focus = false) => {
  const run = place.closest("[data-run]").dataset.run;
  const data = await ohr.part(`${run}/charts`);
  const state = (place.ohrState ??= {});
  const label = focus ? document.activeElement?.textContent : null;
  const whole = place.clientWidth;
  if (!whole) return; /* of a run that is not shown */
  const width = (panels) => {
    const columns = Math.max(1, Math.min(panels, Math.floor((whole + 36) / (320 + 36))));
    return Math.floor((whole - 36 * (columns - 1)) / columns);
  };
  const few = data.dots.length <= ohr.charts.most;
  let drawn = [];
  if (place.dataset.chart === "cost" && few) drawn = ohr.charts.dots(data, width, "lost");
  else if (place.dataset.chart === "curves") drawn = data.curves ? ohr.charts.curves(data, state, width) : few ? ohr.charts.dots(data, width, "score") : [];
  else if (place.dataset.chart === "errors" && data.classes.length <= ohr.charts.most) drawn = ohr.charts.classes(data, width);
  else if (place.dataset.chart === "decomposition" && data.decomposition.length <= ohr.charts.most) drawn = ohr.charts.decomposition(data, width);
  place.replaceChildren(...drawn);
  if (label) [...place.querySelectorAll("button")].find((button) => button.textContent === label)?.focus();
};
ohr.charts.drawAll = () => Promise.all([...document.querySelectorAll("[data-chart]")].map((place) => ohr.charts.draw(place)));
