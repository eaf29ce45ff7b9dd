// Making elements, and the few things every panel does.

export const $ = (id) => document.getElementById(id);

/// An element with attributes and children; `on*` attributes are listeners, text is always text.
export function make(name, attributes = {}, ...children) {
  const space = SVG.has(name) ? "http://www.w3.org/2000/svg" : null;
  const node = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("aria-")) { node.setAttribute(key, String(value)); continue; }
    if (value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const SVG = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "polyline", "polygon", "title", "clipPath"]);

export function fill(node, ...children) { node.replaceChildren(...children.flat().filter(Boolean)); }

export const signed = (x, digits = 1) => {
  const text = Math.abs(x).toFixed(digits);
  return (Number(text) === 0 ? "" : x > 0 ? "+" : "−") + text;
};

export const plural = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;

export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/// A table from heads and rows; a head that begins with `>` is of numbers.
export function table(heads, rows, attributes = {}) {
  const right = heads.map((head) => typeof head === "string" && head.startsWith(">"));
  const cell = (kind, value, place) => make(kind, right[place] ? { class: "r" } : kind === "th" ? { scope: "col" } : {}, value);
  return make("div", { class: "scroll" }, make("table", attributes,
    make("thead", {}, make("tr", {}, heads.map((head, place) => cell("th", String(head).replace(/^>/, ""), place)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((value, place) => cell("td", value ?? "", place)))))));
}
