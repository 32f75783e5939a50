"use strict";
/* Review of candidates, one at a time. Text is put into the page as text only. */
const at = (id) => document.getElementById(id);
const make = (name, about, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const token = document.querySelector("meta[name=token]").content;
const buttons = [...document.querySelectorAll("[data-verdict]")];
let verdicts = [], place = 0, shown = null, busy = false;

const ask = async (address, about) => {
  let answer;
  try { answer = await fetch(address, about); } catch { throw new Error("The review has ended: start it again, and load this page again."); }
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
const say = (text, failed = false) => { at("said").textContent = text; at("said").classList.toggle("failed", failed); };
/* One thing at a time: a key that is pressed while a verdict is being saved must not decide about the next question. */
const alone = async (work) => {
  if (busy) return;
  busy = true;
  try { await work(); } catch (error) { say(String(error.message ?? error), true); } finally { busy = false; }
};

const pageOf = (page) => {
  if (page.page < 0) return [make("h2", {}, "No page holds this evidence"), ...page.elsewhere.map((passage) => make("blockquote", { class: "quote", dir: "auto" }, passage))];
  const name = `Page ${page.page + 1} of ${shown.document}`;
  const image = make("img", { alt: name });
  image.addEventListener("click", () => { zoom(); image.scrollIntoView({ block: "nearest" }); });
  const figure = make("figure", { class: "page-image" }, image);
  const lacking = (reason) => figure.replaceChildren(make("figcaption", { class: "note" }, reason));
  image.addEventListener("error", () => lacking("This page image cannot be shown."));
  if (page.image) image.src = `/image?place=${place}&page=${page.page}`; else lacking("The set has no PDF of this document.");
  const text = make("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": `Text of page ${page.page + 1}` },
    ...page.parts.map(([part, isEvidence]) => (isEvidence ? make("mark", {}, part) : part)));
  const missing = page.elsewhere.map((passage) => make("blockquote", { class: "quote", dir: "auto" }, passage));
  const notes = [];
  if (page.silver) notes.push(make("p", { class: "note silver" }, `Read by ${page.silver}, not corrected.`));
  if (page.error) notes.push(make("p", { class: "note" }, page.error));
  if (missing.length) notes.push(make("p", { class: "note" }, "Evidence that has no place in the text of this page:"), ...missing);
  return [make("h2", {}, name), make("div", { class: "columns two" }, figure, make("div", {}, ...notes, text))];
};

const zoom = () => {
  const isZoomed = at("pages").classList.toggle("zoomed");
  at("zoom").setAttribute("aria-pressed", String(isZoomed));
};

/* Scroll a page's text to its evidence, with two lines before it. */
const toEvidence = (text) => {
  const mark = text.querySelector("mark");
  if (mark) text.scrollTop = mark.offsetTop - text.offsetTop - 48;
};

const draw = () => {
  const decision = shown.decision, edited = decision?.verdict === "edit" ? decision : null;
  at("where").textContent = [`${place + 1} of ${verdicts.length}`, shown.id, ...shown.about, shown.document].filter(Boolean).join(" · ");
  at("question").textContent = edited?.question || shown.question;
  at("answers").replaceChildren(...(edited?.answer ? [edited.answer] : shown.answers).map((answer) => make("blockquote", { class: "quote", dir: "auto" }, answer)));
  at("changed").hidden = !shown.stale;
  at("removed").hidden = !shown.removed;
  at("removed").textContent = `Removed: ${shown.removed}. Your verdict tells whether the rule was right; the question stays out of the set.`;
  at("reason").value = decision?.reason ?? "";
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.verdict === decision?.verdict));
  at("zoom").hidden = !shown.pages.some((page) => page.image);
  at("pages").replaceChildren(...shown.pages.flatMap(pageOf));
  for (const text of document.querySelectorAll("#pages .text")) toEvidence(text);
  const decided = verdicts.filter(Boolean).length;
  at("progress").max = verdicts.length;
  at("progress").value = decided;
  at("count").textContent = `${decided.toLocaleString("en")} of ${verdicts.length.toLocaleString("en")} decided`;
  at("done").hidden = decided < verdicts.length;
  at("all").textContent = verdicts.length === 1 ? "The only question is decided." : `All ${verdicts.length.toLocaleString("en")} questions are decided.`;
  edit(false);
};
const edit = (open) => {
  at("edits").hidden = !open;
  at("verdicts").hidden = open;
  if (!open) return;
  at("new-question").value = at("question").textContent;
  at("new-answer").value = at("answers").firstChild?.textContent ?? "";
  at("new-question").focus();
};
const show = async (number) => {
  if (number < 0 || number >= verdicts.length) { say(number < 0 ? "This is the first question." : "This is the last question."); return; }
  const candidate = await ask(`/candidate?place=${number}`);
  [place, shown] = [number, candidate];
  draw();
  scrollTo(0, 0);
};
const go = (step) => { say(""); return show(place + step); };
const after = (isWanted) => {
  const numbers = verdicts.map((_, number) => (place + 1 + number) % verdicts.length);
  return numbers.find(isWanted);
};
const isUndecided = (number) => !verdicts[number];
const nextUndecided = async () => {
  say("");
  const number = after(isUndecided);
  if (number === undefined) say("Every question is decided."); else await show(number);
};
const save = async (verdict, changes = {}) => {
  const decision = { place: String(place), verdict, reason: at("reason").value.trim(), ...changes };
  await ask("/decision", { method: "POST", headers: { "Content-Type": "application/json", "X-Ohr-Token": token }, body: JSON.stringify(decision) });
  say(`Saved${verdicts[place] === verdict ? " again" : ""}: ${verdict} ${shown.id}`);
  verdicts[place] = verdict;
  const isLast = place === verdicts.length - 1;
  await show(isLast ? after(isUndecided) ?? place : place + 1);
};
const undo = async () => {
  const undone = await ask("/undo", { method: "POST", headers: { "X-Ohr-Token": token } });
  verdicts[undone.place] = undone.verdict;
  await show(undone.place);
  say(`Taken back: ${shown.id} is ${undone.verdict ? `${undone.verdict} again` : "undecided"}`);
};
const saveEdit = () => {
  const [question, answer] = [at("new-question").value.trim(), at("new-answer").value.trim()], changes = {};
  if (!question || !answer) { say("A question needs a text and an answer.", true); return; }
  if (question !== shown.question) changes.question = question;
  if (answer !== shown.answers[0]) changes.answer = answer;
  if (!Object.keys(changes).length) { say("Nothing is edited yet.", true); return; }
  alone(() => save("edit", changes));
};
const decide = (verdict) => { if (!busy && shown) { if (verdict === "edit") edit(true); else alone(() => save(verdict)); } };

const keys = {
  k: () => decide("keep"), d: () => decide("drop"), e: () => decide("edit"), r: () => at("reason").focus(),
  u: () => alone(undo), n: () => alone(nextUndecided), ArrowLeft: () => alone(() => go(-1)), ArrowRight: () => alone(() => go(1)), z: () => { if (!at("zoom").hidden) zoom(); },
};
document.addEventListener("keydown", (event) => {
  if (event.isComposing) return; /* Enter and Escape end a word that an input method composes */
  const isEditing = !at("edits").hidden, isField = event.target.matches("input, textarea");
  if (event.target === at("reason") && ["Enter", "Escape"].includes(event.key)) { event.preventDefault(); at("reason").blur(); return; }
  if (event.key === "Escape") { if (isEditing) edit(false); document.activeElement.blur(); return; }
  if (isEditing && event.key === "Enter" && (event.ctrlKey || event.metaKey)) { saveEdit(); return; }
  if (isField || isEditing || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
for (const button of buttons) button.addEventListener("click", () => decide(button.dataset.verdict));
at("previous").addEventListener("click", keys.ArrowLeft);
at("next").addEventListener("click", keys.ArrowRight);
at("undecided").addEventListener("click", keys.n);
at("undo").addEventListener("click", keys.u);
at("zoom").addEventListener("click", keys.z);
at("cancel").addEventListener("click", () => edit(false));
at("form").addEventListener("submit", (event) => { event.preventDefault(); if (!at("edits").hidden) saveEdit(); });

alone(async () => {
  verdicts = await ask("/verdicts");
  await show(Math.max(verdicts.indexOf(""), 0));
  document.documentElement.dataset.ready = "yes";
});
