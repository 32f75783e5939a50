"use strict";
/* Data of the page: embedded in it, in files beside it, or served by `ohr view`. Text is put into the page as text only. */
const ohr = { waiting: {}, kept: new Map() };
ohr.served = document.documentElement.dataset.mode === "served";

ohr.unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
};

/* A part by its name: `0/charts`. */
ohr.part = (name) => {
  if (!ohr.kept.has(name)) ohr.kept.set(name, ohr.load(name).catch((error) => { ohr.kept.delete(name); throw error; }));
  return ohr.kept.get(name);
};

ohr.load = async (name) => {
  const inside = document.querySelector(`script[data-blob="${CSS.escape(name)}"]`);
  if (inside) return ohr.unpack(inside.textContent);
  return ohr.unpack(await ohr.beside(name));
};

/* A file beside the page is loaded by a script tag: a page that was opened from a disk may fetch nothing. */
ohr.beside = (name) => new Promise((done, failed) => {
  ohr.waiting[name] = done;
  const script = document.createElement("script");
  const own = document.querySelector("script[nonce]");
  script.nonce = own ? own.nonce || own.getAttribute("nonce") : "";
  const folder = document.documentElement.dataset.parts;
  script.src = `${encodeURIComponent(folder)}/${name.replaceAll("/", "-")}.js`;
  script.onerror = () => failed(new Error(`${folder}/ is not beside this page: move both together`));
  script.onload = () => script.remove();
  document.head.append(script);
});
window.ohrPart = (name, text) => { const done = ohr.waiting[name]; delete ohr.waiting[name]; if (done) done(text); };

ohr.fetch = async (path, values = {}) => {
  const query = new URLSearchParams(values).toString();
  const answer = await fetch(query ? `${path}?${query}` : path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};

/* Make an element; children are nodes or text, never HTML. */
ohr.make = (name, about = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
};

ohr.number = (value, digits = 3) => (value === null || value === undefined || Number.isNaN(value) ? "" : value.toFixed(digits).replace(/^-(?=[0.]*$)/, ""));
ohr.color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
