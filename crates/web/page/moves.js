// The list of moves: numbered, with values, grades and variations.

import { $, make, fill, signed } from "./dom.js";
import { state, goToNode, subscribe, deleteVariation, promoteVariation } from "./state.js";
import { variationOf, pathTo } from "./tree.js";

/// The signs of the grades that are shown, as in chess notation.
export const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
export const isMarked = (row) => Boolean(row && SIGNS[row.grade]);

/// Formats the value of a row for Black; `~` marks an estimate.
export const valueText = (row) => (row.value_after == null ? "" : signed(row.value_after, row.exact ? 0 : 1));

/// The accessible name contains the visible text.
const label = (node, ply) => {
  const { row, step } = node;
  const parts = [`${ply}. ${step.side} ${node.move}`, isMarked(row) && SIGNS[row.grade], row && valueText(row), row?.value_after != null && "for Black"];
  const grade = isMarked(row) ? `, ${row.grade}, loss ${row.loss.toFixed(1)}` : "";
  return `${parts.filter(Boolean).join(" ")}${grade}${row ? `, ${row.exact ? "exact" : `depth ${row.depth}`}` : ""}`;
};

function moveButton(node, ply, isNumbered) {
  const { row } = node;
  const isShown = state.node === node;
  return make("button", { type: "button", class: `move ${node.step.side}${isMarked(row) ? ` ${row.grade}` : ""}`, "aria-current": isShown ? "true" : null,
    "aria-label": label(node, ply), title: row ? (row.exact ? "exact" : `depth ${row.depth}`) : null, onclick: () => goToNode(node) },
  isNumbered ? make("span", { class: "ply", "aria-hidden": true }, `${ply}.`) : null,
  make("span", { class: "square" }, node.move),
  isMarked(row) ? [" ", make("b", { class: "sign" }, SIGNS[row.grade])] : null,
  row ? [" ", make("span", { class: "row-value" }, valueText(row))] : null);
}

/// Builds the variations that begin with the given nodes.
function variations(nodes, ply) {
  return nodes.map((node) => {
    const parts = [moveButton(node, ply, true)];
    let at = node, number = ply;
    while (at.children.length) {
      const [next, ...others] = at.children;
      number++;
      parts.push(moveButton(next, number, true));
      if (others.length) parts.push(variations(others, number));
      at = next;
    }
    return make("span", { class: "variation" }, "( ", parts.flat(), " )");
  });
}

function draw() {
  const rows = [];
  let row = null, pending = [];
  const close = () => { if (row) rows.push(row); row = null; if (pending.length) rows.push(make("li", { class: "variations" }, pending)); pending = []; };
  let at = state.root, ply = 0;
  while (at.children.length) {
    const [main, ...others] = at.children;
    ply++;
    const isSecond = main.step.side === "white";
    if (!row || !isSecond) {
      close();
      row = make("li", { class: "pair-of-moves" }, make("span", { class: "ply" }, `${ply}.`));
      if (isSecond) row.append(make("span", { class: "no-move" }, "–")); // Black passes or does not begin
    }
    row.append(moveButton(main, ply, false));
    if (others.length) pending.push(...variations(others, ply));
    if (isSecond) close();
    at = main;
  }
  close();
  fill($("moves"), rows.length ? rows : make("li", { class: "hint" }, "No moves yet."));
  const isVariation = variationOf(state.node) !== null;
  $("variation-tools").hidden = !isVariation && !state.path[state.ply];
  $("promote").hidden = !isVariation;
  $("delete-moves").textContent = isVariation ? "Delete variation" : "Delete later moves";
  const current = $("moves").querySelector("[aria-current]");
  if (current) {
    const [own, list] = [current.getBoundingClientRect(), $("moves").getBoundingClientRect()];
    if (own.top < list.top || own.bottom > list.bottom) $("moves").scrollTop += own.top - list.top - 60;
  }
}

export const plyOf = (node) => pathTo(node).length;

let isScheduled = false;
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; draw(); });
}

export function setup() {
  $("promote").addEventListener("click", promoteVariation);
  $("delete-moves").addEventListener("click", deleteVariation);
  subscribe((event) => { if (event !== "new-game" && event !== "view") schedule(); });
}
