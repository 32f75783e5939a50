"use strict";
/* The list of questions: filtered, sorted, opened. */
ohr.questions = { start: {} };

ohr.questions.set = async (run) => {
  const place = document.querySelector(`[data-run="${run}"] [data-questions]`);
  if (!place || place.ohrTable) return;
  place.ohrTable = true;
  const form = document.querySelector(`[data-run="${run}"] [data-filters]`);
  const about = await (ohr.served ? ohr.fetch(`${run}/about`) : ohr.part(`${run}/about`));
  const fill = (name, values, label = (value) => value) => values.forEach((value, number) =>
    form.elements[name].append(ohr.make("option", { value: name === "source" || name === "domain" ? value : number }, label(value))));
  fill("pipeline", about.pipelines, (pipeline) => pipeline.label);
  fill("condition", about.conditions);
  fill("source", about.sources); fill("domain", about.domains);
  form.elements.pipeline.value = about.start[0]; form.elements.condition.value = about.start[1];
  const list = ohr.served ? new ohr.questions.Served(run, about) : new ohr.questions.Held(run, about);
  await list.show(place, form);
  ohr.questions[run] = list;
};

ohr.questions.columns = (open) => {
  const score = (cell) => ohr.make("span", {}, cell.getRow().getData().failed && cell.getField() === "score" ? "failed" : ohr.number(cell.getValue()));
  const lost = (cell) => {
    const value = cell.getValue();
    return ohr.make("span", { class: value > 1e-9 ? "minus" : value < -1e-9 ? "plus" : "muted" }, value === null ? "" : Math.abs(value) > 1e-9 ? ohr.number(value) : "0");
  };
  const text = (cell) => ohr.make("span", {}, String(cell.getValue() ?? ""));
  const first = { headerSortStartingDir: "desc", hozAlign: "right", headerHozAlign: "right", width: 82, sorter: ohr.questions.sorter };
  return [
    { title: "question", field: "text", widthGrow: 4, minWidth: 190, formatter: (cell) => ohr.make("button", { class: "open", type: "button", dir: "auto", onclick: (event) => { event.stopPropagation(); open(cell.getRow()); } }, String(cell.getValue() ?? "") || "(no text)") },
    { title: "lost", field: "lost", formatter: lost, ...first },
    { title: "clean", field: "clean", formatter: score, ...first },
    { title: "score", field: "score", formatter: score, ...first },
    { title: "evidence", field: "source", formatter: text, width: 118, responsive: 2 },
    { title: "document", field: "document", formatter: text, widthGrow: 2, minWidth: 150, responsive: 3 },
  ];
};
/* Undefined scores come last, whatever the direction. */
ohr.questions.sorter = (a, b, rowA, rowB, column, direction) => {
  const missing = (value) => value === null || value === undefined;
  if (missing(a) || missing(b)) return missing(a) === missing(b) ? 0 : (missing(a) ? 1 : -1) * (direction === "asc" ? 1 : -1);
  return a - b;
};

ohr.questions.List = class {
  constructor(run, about) { this.run = run; this.about = about; }
  choice() {
    const values = Object.fromEntries(new FormData(this.form));
    return { ...values, pipeline: Number(values.pipeline), condition: Number(values.condition), search: values.search.trim() };
  }
  async show(place, form) {
    this.form = form;
    this.output = form.parentElement.querySelector("[data-count]");
    let waiting;
    const change = () => { clearTimeout(waiting); waiting = setTimeout(() => this.changed(), 120); };
    form.addEventListener("change", change); form.addEventListener("input", change);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.table = new Tabulator(place, {
      layout: "fitColumns", responsiveLayout: "hide", columns: ohr.questions.columns((row) => this.open(row.getData().place)), index: "place",
      pagination: true, paginationSize: 25, paginationButtonCount: 3, headerSortTristate: false, columnHeaderSortMulti: false, headerSortElement: "<span aria-hidden='true'>↕</span>",
      initialSort: [{ column: "lost", dir: "desc" }], placeholder: "No question fits these filters.", ...this.source(),
    });
    this.table.on("rowClick", (event, row) => this.open(row.getData().place));
    this.table.on("dataProcessed", () => place.querySelectorAll(".tabulator-page-size").forEach((select) => select.setAttribute("aria-label", "questions on a page")));
    await new Promise((done) => this.table.on("tableBuilt", done));
    await this.changed();
  }
  count(number) { this.output.textContent = `${number.toLocaleString("en")} of ${this.about.count.toLocaleString("en")} questions.`; }
  open(place) { ohr.question.show(this, place); }
};

/* Everything is in the page, or in files beside it. */
ohr.questions.Held = class extends ohr.questions.List {
  source() { return { data: [], sortMode: "local", paginationMode: "local" }; }
  async changed() {
    const choice = this.choice();
    const index = await ohr.part(`${this.run}/index`);
    const scores = await ohr.part(`${this.run}/scores/${choice.pipeline}`);
    const clean = this.about.clean === null ? null : scores.values[this.about.clean];
    const values = scores.values[choice.condition], failed = new Set(scores.failed[choice.condition]);
    const sought = choice.search.toLowerCase();
    const rows = [];
    for (let place = 0; place < this.about.count; place += 1) {
      const score = values[place], before = clean === null ? null : clean[place];
      const lost = score === null || before === null ? null : before - score;
      if (choice.change === "lost" && !(lost > 1e-9)) continue;
      if (choice.change === "gained" && !(lost < -1e-9)) continue;
      if (choice.change === "failed" && !failed.has(place)) continue;
      if (choice.source && index.source[place] !== choice.source) continue;
      if (choice.domain && index.domain[place] !== choice.domain) continue;
      if (sought && !`${index.text[place]}\n${index.id[place]}\n${index.document[place]}`.toLowerCase().includes(sought)) continue;
      rows.push({ place, id: index.id[place], text: index.text[place], document: index.document[place], source: index.source[place], clean: before, score, lost, failed: failed.has(place) });
    }
    await this.table.replaceData(rows);
    await this.table.setPage(1);
    this.count(rows.length);
  }
  async details(place) {
    const index = await ohr.part(`${this.run}/index`);
    const held = index.part[place];
    if (held === null || held === undefined) throw new Error("This report leaves out the details of this question. `ohr report` writes those of all, `ohr view` shows any.");
    const part = await ohr.part(`${this.run}/details/${held}`);
    return { ...part.questions[index.id[place]], shared: part };
  }
  async image(condition, page) {
    const images = await ohr.part(`${this.run}/images`);
    const source = images.sources[condition] ?? "";
    const found = images.pages[`${source}\t${page.document}\t${page.page}`];
    if (found) return found;
    throw new Error(images.reason || "This page's image is not in the report; `ohr view` shows every page.");
  }
};

/* `ohr view` sends a page of the list at a time. */
ohr.questions.Served = class extends ohr.questions.List {
  source() {
    return {
      ajaxURL: `${this.run}/questions`, ajaxRequestFunc: (url, config, params) => this.request(params),
      sortMode: "remote", paginationMode: "remote", dataReceiveParams: {}, ajaxResponse: (url, params, answer) => { this.count(answer.last_row); return answer; },
    };
  }
  request(params) {
    const [sort] = params.sort?.length ? params.sort : [{ field: "lost", dir: "desc" }];
    return ohr.fetch(`${this.run}/questions`, { ...this.choice(), order: sort.field, descending: sort.dir === "desc" ? 1 : 0, page: params.page ?? 1, size: params.size ?? 25 });
  }
  async changed() { await this.table.setPage(1); }
  async details(place) { const part = await ohr.fetch(`${this.run}/question`, { place }); return { ...Object.values(part.questions)[0], shared: part }; }
  async image(condition, page) {
    const url = `${this.run}/image?${new URLSearchParams({ condition, document: page.document, page: page.page })}`;
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(await answer.text());
    return URL.createObjectURL(await answer.blob());
  }
};
