// Helpers for DOM elements and text.

export const $ = (id) => document.getElementById(id);

/// Creates an element with attributes and children; `on*` attributes are event listeners, strings become text.
export function make(name, attributes = {}, ...children) {
  const namespace = SVG.has(name) ? "http://www.w3.org/2000/svg" : null;
  const node = namespace ? document.createElementNS(namespace, name) : document.createElement(name);
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

/// Replaces the children of a node.
export function fill(node, ...children) { node.replaceChildren(...children.flat().filter(Boolean)); }

export const signed = (x, digits = 1) => {
  const text = Math.abs(x).toFixed(digits);
  return (Number(text) === 0 ? "" : x > 0 ? "+" : "−") + text;
};

export const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/// Downloads content as a file.
export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/// Creates a table; a column title that starts with `>` is right-aligned.
export function table(titles, rows, attributes = {}) {
  const right = titles.map((title) => typeof title === "string" && title.startsWith(">"));
  const cell = (kind, value, column) => make(kind, right[column] ? { class: "r" } : kind === "th" ? { scope: "col" } : {}, value);
  return make("div", { class: "scroll" }, make("table", attributes,
    make("thead", {}, make("tr", {}, titles.map((title, column) => cell("th", String(title).replace(/^>/, ""), column)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((value, column) => cell("td", value ?? "", column)))))));
}
