// The board: a grid of buttons that a mouse, a finger, a keyboard or a screen reader can use.

import { $, make, fill } from "./dom.js";
import { state, cellsAt, isMine } from "./state.js";

const cells = [];
let focused = 27;
let picked = []; // the squares of a checkers move pointed at so far
let shown = null; // the cells drawn last, to see what turned
let onMove = () => {};

export const nameOf = (cell) => (state.game === "othello"
  ? "abcdefgh"[cell % 8] + (Math.floor(cell / 8) + 1)
  : String(Math.floor(cell / 2) + 1));

const isDark = (cell) => (cell + Math.floor(cell / 8)) % 2 === 1;
/// Where a cell is drawn: who plays Black in checkers sees their own men below.
const turned = () => state.game === "checkers" && state.side === "black";
const place = (cell) => (turned() ? 63 - cell : cell);

export function build(move) {
  onMove = move;
  const board = $("board");
  for (let row = 0; row < 8; row++) {
    const line = make("div", { role: "row", class: "line" });
    for (let column = 0; column < 8; column++) {
      const at = row * 8 + column;
      const cell = make("button", { type: "button", class: "cell", role: "gridcell", tabindex: at === focused ? 0 : -1 });
      cell.addEventListener("click", () => pointAt(place(at)));
      cell.addEventListener("focus", () => { rove(at); });
      cells.push(cell);
      line.append(cell);
    }
    board.append(line);
  }
  board.addEventListener("keydown", steer);
  board.parentElement.append(make("div", { class: "coords", "aria-hidden": true, id: "coords" }));
  return cells;
}

function rove(at) {
  cells[focused].tabIndex = -1;
  focused = at;
  cells[at].tabIndex = 0;
}

function steer(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape" && picked.length) { picked = []; draw(); }
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  const column = focused % 8;
  if ((step === -1 && column === 0) || (step === 1 && column === 7)) return;
  if (focused + step < 0 || focused + step > 63) return;
  cells[focused + step].focus();
}

/// The moves that begin with the squares pointed at.
const fitting = (path) => state.here.legal.filter((legal) => path.every((cell, i) => legal.path[i] === cell));

function pointAt(cell) {
  if (!state.here || !isMine(state.here.side) || state.here.over || state.flagged) return;
  if (state.game === "othello") {
    const legal = state.here.legal.find((move) => move.path[0] === cell);
    if (legal) onMove(legal.move);
    return;
  }
  const path = [...picked, cell];
  let moves = fitting(path);
  if (!moves.length) { // pointing elsewhere begins anew
    picked = fitting([cell]).length && cell !== picked[0] ? [cell] : [];
    draw();
    return;
  }
  picked = path;
  const whole = moves.find((move) => move.path.length === path.length);
  if (whole && moves.length === 1) { picked = []; onMove(whole.move); return; }
  // A jump that can only go on one way goes on by itself.
  if (moves.length === 1 && path.length > 1) { picked = []; onMove(moves[0].move); return; }
  draw();
}

const NAMES = { X: "black", O: "white", B: "black king", W: "white king" };
const label = (cell, what, can) => {
  const piece = { X: state.game === "othello" ? "black disc" : "black man", O: state.game === "othello" ? "white disc" : "white man" }[what] ?? NAMES[what] ?? "empty";
  return `${nameOf(cell)}, ${piece}${can ? ", you may play here" : ""}`;
};

/// Draws the position shown; `hints` has for cells what to write there.
export function draw(hints = draw.hints ?? new Map()) {
  draw.hints = hints;
  const here = state.here;
  if (!here) return;
  const mine = isMine(here.side) && !here.over && !state.flagged;
  const next = state.game === "checkers" && picked.length
    ? new Set(fitting(picked).map((move) => move.path[picked.length]))
    : new Set(here.legal.map((move) => move.path[0]));
  const lastStep = state.ply ? state.line.steps[state.ply - 1] : null;
  const last = lastStep ? lastStep.path[lastStep.path.length - 1] : -1;
  const before = shown;
  for (let at = 0; at < 64; at++) {
    const cell = place(at), node = cells[at], what = here.cells[cell];
    const can = mine && next.has(cell);
    const kind = state.game === "checkers" ? (isDark(cell) ? " dark" : " light") : "";
    node.className = `cell${kind}${can ? " can" : ""}${cell === last ? " last" : ""}${picked.includes(cell) ? " picked" : ""}`;
    node.setAttribute("aria-label", label(cell, what, can));
    const parts = [];
    if (state.game === "checkers" && isDark(cell)) parts.push(make("span", { class: "number", "aria-hidden": true }, nameOf(cell)));
    if (what !== "-") {
      const colour = what === "X" || what === "B" ? "black" : "white";
      const was = before?.[cell];
      const moved = before && was !== what ? (was === "-" ? " placed" : " turned") : "";
      parts.push(make("span", { class: `disc ${colour}${"BW".includes(what) ? " king" : ""}${moved}` }));
    } else if (can) parts.push(make("span", { class: "dot" }));
    const hint = hints.get(cell);
    if (hint) {
      node.classList.add("seen");
      if (hint.value !== undefined) parts.push(make("span", { class: `value ${hint.kind ?? ""}${hint.odds === undefined ? "" : " raised"}` }, hint.value));
      if (hint.odds !== undefined) parts.push(make("span", { class: "odds", style: `--p:${(100 * hint.odds).toFixed(0)}%` }, `${(100 * hint.odds).toFixed(0)}%`));
      if (hint.say) node.setAttribute("aria-label", `${label(cell, what, can)}, ${hint.say}`);
    }
    fill(node, parts);
  }
  shown = here.cells;
  coords();
}

function coords() {
  const wanted = state.game;
  const node = $("coords");
  if (node.dataset.game === wanted) return;
  node.dataset.game = wanted;
  if (wanted !== "othello") return fill(node);
  const marks = [];
  for (let i = 0; i < 8; i++) {
    const at = `${3.4 + 93.2 * ((i + 0.5) / 8)}%`;
    marks.push(make("span", { style: `left:${at};top:1.75%` }, "abcdefgh"[i]));
    marks.push(make("span", { style: `top:${at};left:1.75%` }, String(i + 1)));
  }
  fill(node, marks);
}

export const forgetPath = () => { picked = []; };
export { cellsAt };
