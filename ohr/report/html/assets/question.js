"use strict";
/* One question, opened. */
ohr.question = { view: "diff" };

ohr.question.show = async (list, place) => {
  const dialog = document.getElementById("question");
  const choice = list.choice();
  ohr.question.from ??= document.activeElement;
  let found;
  try { found = await list.details(place); } catch (error) { found = { error: String(error.message ?? error) }; }
  const state = { list, place, found, condition: list.about.conditions[choice.condition], pipeline: choice.pipeline };
  dialog.replaceChildren(ohr.question.bar(dialog, state), ohr.make("div", { class: "inside" }));
  ohr.question.draw(dialog, state);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
};

ohr.question.neighbors = (state) => {
  const rows = state.list.table.getRows("active").map((row) => row.getData().place);
  const at = rows.indexOf(state.place);
  return { before: rows[at - 1], after: at < 0 ? undefined : rows[at + 1] };
};

ohr.question.bar = (dialog, state) => {
  const { before, after } = ohr.question.neighbors(state);
  const go = (place) => ({ type: "button", disabled: place === undefined, onclick: () => ohr.question.show(state.list, place) });
  const conditions = ohr.make("select", { "aria-label": "condition", onchange: (event) => { state.condition = event.target.value; ohr.question.draw(dialog, state); } },
    state.list.about.conditions.map((name) => ohr.make("option", { value: name, selected: name === state.condition }, name)));
  return ohr.make("div", { class: "sheetbar" },
    ohr.make("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"),
    ohr.make("button", go(before), "Previous"), ohr.make("button", go(after), "Next"),
    ohr.make("label", {}, "Condition ", conditions));
};

ohr.question.draw = (dialog, state) => {
  const inside = dialog.querySelector(".inside"), found = state.found;
  if (found.error) { inside.replaceChildren(ohr.make("h2", { id: "question-title" }, "Question"), ohr.make("p", { class: "note" }, found.error)); return; }
  const where = found.pages.length ? `, ${found.pages.length === 1 ? "page" : "pages"} ${found.pages.map((page) => found.shared.pages[page.key].page + 1).join(", ")}` : "";
  inside.replaceChildren(
    ohr.make("p", { class: "eyebrow" }, [found.id, found.source, `${found.document}${where}`].filter(Boolean).join(" · ")),
    ohr.make("h2", { id: "question-title", dir: "auto" }, found.text || "(no text)"),
    ohr.question.facts(found),
    ohr.make("h3", {}, "Scores"), ohr.question.scores(state),
    ...found.pages.flatMap((page) => ohr.question.page(state, page)),
    ohr.make("h3", {}, "Retrieved chunks"), ohr.question.hits(state),
    ohr.make("h3", {}, "Answers"), ohr.question.answers(state),
  );
};

ohr.question.facts = (found) => ohr.make("div", { class: "columns even" },
  ohr.make("div", {}, ohr.make("h3", {}, "Accepted answers"), found.answers.length ? found.answers.map((answer) => ohr.make("blockquote", { class: "quote", dir: "auto" }, answer)) : ohr.make("p", { class: "muted" }, "none is known")),
  ohr.make("div", {}, ohr.make("h3", {}, "Evidence"), found.evidence.length ? found.evidence.map((passage) => ohr.make("blockquote", { class: "quote", dir: "auto", tabindex: 0 }, passage)) : ohr.make("p", { class: "muted" }, "its place is not known")));

ohr.question.table = (label, headers, rows, chosen = -1) => ohr.make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
  ohr.make("table", {}, ohr.make("thead", {}, ohr.make("tr", {}, headers.map((header, place) => ohr.make("th", { scope: "col", class: place === chosen ? "chosen" : "" }, header)))),
    ohr.make("tbody", {}, rows.map((row) => ohr.make("tr", {}, row.map((value, place) => ohr.make("td", { class: place === chosen ? "chosen" : "" }, value)))))));

ohr.question.scores = (state) => {
  const { about } = state.list, clean = about.clean;
  const rows = about.pipelines.map((pipeline, number) => {
    const values = state.found.scores[number];
    return [pipeline.label, ...values.map((value) => {
      if (value === "failed") return ohr.make("span", { class: "minus" }, "failed");
      const lost = clean === null || typeof values[clean] !== "number" || value === null ? 0 : values[clean] - value;
      return ohr.make("span", { class: lost > 1e-9 ? "minus" : lost < -1e-9 ? "plus" : "" }, ohr.number(value));
    })];
  });
  return ohr.question.table("Scores of every pipeline in every condition", ["pipeline", ...about.conditions], rows, 1 + about.conditions.indexOf(state.condition));
};

/* --- pages --- */
ohr.question.page = (state, asked) => {
  const page = state.found.shared.pages[asked.key], read = page.reads[state.condition];
  const title = ohr.make("h3", {}, `Page ${page.page + 1} of ${page.document}`);
  if (!read) return [title, ohr.make("p", { class: "note" }, "The text of this page is not known in this condition.")];
  const picture = ohr.make("figure", { class: "page-image" }, ohr.make("figcaption", {}, "loading the page image"));
  state.list.image(state.condition, page).then(
    (source) => picture.replaceChildren(
      ohr.make("img", { src: source, alt: `Page ${page.page + 1} of ${page.document} as the engine saw it in condition ${state.condition}`, loading: "lazy" }),
      ohr.make("figcaption", {}, `The page image of ${state.condition}.`)),
    (error) => picture.replaceChildren(ohr.make("figcaption", { class: "note" }, String(error.message ?? error))));
  return [title, ohr.make("div", { class: "columns two" }, picture, ohr.make("div", {}, ohr.question.text(state, asked, page, read)))];
};

ohr.question.text = (state, asked, page, read) => {
  const truth = Array.from(page.truth), after = Array.from(read.read), kept = asked.kept[state.condition] ?? [], changes = ohr.question.changes(read.changes);
  const parts = [];
  if (read.error) parts.push(ohr.make("p", { class: "note" }, `This page failed: ${read.error}`));
  if (truth.length && changes.length) {
    const place = ohr.make("div");
    const draw = () => place.replaceChildren(...(ohr.question.view === "diff" ? [ohr.question.inline(truth, after, changes, asked.evidence)] : [
      ohr.make("div", { class: "columns even" },
        ohr.question.pane("Clean text", truth, asked.evidence, changes.map(([a, b, , , same]) => [a, b, same ? "same" : "del"])),
        ohr.question.pane(state.condition, after, kept, changes.map(([, , c, d, same]) => [c, d, same ? "same" : "ins"])))]));
    const names = { diff: "Word diff", sides: "Side by side" };
    const buttons = Object.keys(names).map((name) => ohr.make("button", { type: "button", "aria-pressed": String(name === ohr.question.view), onclick: () => {
      ohr.question.view = name; buttons.forEach((button, number) => button.setAttribute("aria-pressed", String(Object.keys(names)[number] === name))); draw();
    } }, names[name]));
    parts.push(ohr.make("div", { class: "switches" }, ohr.make("div", { role: "group", "aria-label": "How the texts are compared" }, buttons)), ohr.question.key());
    draw(); parts.push(place);
  } else {
    const note = !truth.length ? "No clean text of this page is known; the evidence is marked where it was found." : after.length ? "The text equals the clean text; the evidence is marked." : "";
    parts.push(ohr.make("p", { class: "how" }, note), ohr.question.pane(state.condition, after, kept, []));
  }
  if (asked.cut || read.cut) parts.push(ohr.make("p", { class: "how" }, "This page is long: a part around the evidence is shown."));
  return parts;
};
/* Changes come as distances and lengths, five numbers each. */
ohr.question.changes = (numbers) => {
  const found = [];
  let [here, there] = [0, 0];
  for (let at = 0; at < numbers.length; at += 5) {
    const [start, first] = [here + numbers[at], there + numbers[at + 2]];
    here = start + numbers[at + 1]; there = first + numbers[at + 3];
    found.push([start, here, first, there, numbers[at + 4] === 1]);
  }
  return found;
};
ohr.question.key = () => ohr.make("p", { class: "key" },
  "Struck out: words of the clean text that are gone. Underlined: words that came instead. Dotted: only case, punctuation or space differs. Highlighted: the evidence.");

/* Cut a text at every border of its spans, and wrap each piece in what covers it. */
ohr.question.pieces = (signs, marks, changes) => {
  if (!signs.length) return [];
  const borders = [...new Set([0, signs.length, ...marks.flat(), ...changes.flatMap(([a, b]) => [a, b])])].filter((at) => at <= signs.length).sort((a, b) => a - b);
  const nodes = [];
  for (let number = 0; number + 1 < borders.length; number += 1) {
    const [start, end] = [borders[number], borders[number + 1]];
    const change = changes.find(([a, b]) => a <= start && end <= b && a < b);
    const text = signs.slice(start, end).join("");
    let node = document.createTextNode(text);
    if (change) node = change[2] === "same" ? ohr.make("span", { class: "same" }, node) : ohr.make(change[2], {}, node);
    if (marks.some(([a, b]) => a <= start && end <= b)) node = ohr.make("mark", {}, node);
    nodes.push(node);
  }
  return nodes;
};
ohr.question.pane = (label, signs, marks, changes) => ohr.question.toEvidence(ohr.make("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": label }, ...ohr.question.pieces(signs, marks, changes)));
ohr.question.inline = (truth, after, changes, evidence) => {
  const nodes = [];
  let at = 0;
  const inside = (start, end) => evidence.filter(([a, b]) => a < end && b > start).map(([a, b]) => [Math.max(a, start) - start, Math.min(b, end) - start]);
  const equal = (start, end) => { if (start < end) nodes.push(...ohr.question.pieces(truth.slice(start, end), inside(start, end), [])); };
  for (const [a, b, c, d, same] of changes) {
    equal(at, a);
    const [gone, came] = [truth.slice(a, b), after.slice(c, d).join("")];
    const marked = evidence.some(([start, end]) => start < Math.max(b, a + 1) && end > a);
    const wrap = (node) => (marked ? ohr.make("mark", {}, node) : node);
    if (same) nodes.push(wrap(ohr.make("span", { class: "same", title: gone.join("") }, came || gone.join(""))));
    else {
      nodes.push(...ohr.question.pieces(gone, inside(a, b), [[0, gone.length, "del"]]));
      if (came) nodes.push(gone.length ? " " : "", wrap(ohr.make("ins", {}, came)), gone.length ? "" : " ");
    }
    at = b;
  }
  equal(at, truth.length);
  return ohr.question.toEvidence(ohr.make("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": "Word diff of the clean text and the text of the condition" }, ...nodes));
};
ohr.question.toEvidence = (pane) => {
  requestAnimationFrame(() => { const mark = pane.querySelector("mark"); if (mark && pane.scrollHeight > pane.clientHeight) pane.scrollTop = Math.max(0, mark.offsetTop - pane.offsetTop - 60); });
  return pane;
};

/* --- what came of it --- */
ohr.question.hits = (state) => {
  const { found, list } = state;
  const conditions = [...new Set([list.about.clean, list.about.conditions.indexOf(state.condition)].filter((place) => place !== null))];
  const retrievers = [...new Set(found.hits.map(([, retriever]) => retriever))];
  if (!retrievers.length) return ohr.make("p", { class: "muted" }, "Nothing was retrieved.");
  const one = ([, , rank, score, document, page, own, passage]) => ohr.make("div", { class: `passage${own ? " own" : ""}` },
    ohr.make("p", { class: "where" }, `${rank}. ${document}, page ${page + 1}, score ${ohr.number(score)}${own ? " · a page of the evidence" : ""}`),
    ohr.make("p", { dir: "auto" }, found.shared.passages[passage]));
  return ohr.make("div", { class: `columns ${conditions.length > 1 ? "even" : ""}` }, conditions.map((condition) => ohr.make("div", {},
    ohr.make("h4", {}, list.about.conditions[condition]),
    retrievers.map((retriever) => ohr.make("div", {}, ohr.make("p", { class: "how" }, retriever),
      found.hits.filter((hit) => hit[0] === condition && hit[1] === retriever).sort((a, b) => a[2] - b[2]).map(one))))));
};

ohr.question.answers = (state) => {
  const { found, list } = state, { about } = list;
  const rows = found.answered.map(([pipeline, condition, answer, error]) => {
    const score = found.scores[pipeline][condition];
    const clean = about.clean === null ? null : found.scores[pipeline][about.clean];
    const lost = typeof score === "number" && typeof clean === "number" ? clean - score : 0;
    return { pipeline, condition, cells: [
      about.pipelines[pipeline].label, about.conditions[condition],
      ohr.make("span", { dir: "auto" }, error ? `failed: ${error}` : answer || "(empty)"),
      ohr.make("span", { class: lost > 1e-9 ? "minus" : lost < -1e-9 ? "plus" : "" }, score === "failed" ? "failed" : ohr.number(score)),
    ] };
  });
  rows.sort((a, b) => a.pipeline - b.pipeline || a.condition - b.condition);
  return rows.length ? ohr.question.table("Answers", ["pipeline", "condition", "answer", "score"], rows.map((row) => row.cells)) : ohr.make("p", { class: "muted" }, "Nothing was answered.");
};
