// The board: a grid of buttons for mouse, touch, keyboard and screen readers.

import { $, make, fill } from "./dom.js";
import { state, canMove } from "./state.js";
import { getSetting, setSetting } from "./store.js";

const cells = [];
let focused = 27;
let selected = []; // the squares of a checkers move selected so far
let drawnCells = null; // the cells drawn last, to animate changes
let onMove = () => {};

export const nameOf = (cell) => (state.game === "othello"
  ? "abcdefgh"[cell % 8] + (Math.floor(cell / 8) + 1)
  : String(Math.floor(cell / 2) + 1));

const isDark = (cell) => (cell + Math.floor(cell / 8)) % 2 === 1;
/// Quarter turns of the board, clockwise. A board of checkers turns by half.
let turns = Number(getSetting("turns")) % 4 || 0;
const currentTurns = () => (state.game === "checkers" ? (state.side === "black" ? 2 : 0) + 2 * (turns >> 1) : turns) % 4;
/// Returns whether the user has turned the board by half.
export const isFlipped = () => turns === 2;
export function turn(quarters) {
  turns = (turns + (state.game === "checkers" ? 2 : quarters)) % 4;
  setSetting("turns", turns);
}

/// Converts the place of a cell on the screen to the cell of the game.
function rotate(place) {
  let [row, column] = [place >> 3, place & 7];
  for (let i = 0; i < currentTurns(); i++) [row, column] = [7 - column, row];
  return 8 * row + column;
}

let onEdit = () => {};
export const setEditor = (edit) => { onEdit = edit; };

export function build(move) {
  onMove = move;
  const board = $("board");
  for (let row = 0; row < 8; row++) {
    const line = make("div", { role: "row", class: "line" });
    for (let column = 0; column < 8; column++) {
      const index = row * 8 + column;
      const cell = make("button", { type: "button", class: "cell", role: "gridcell", tabindex: index === focused ? 0 : -1 });
      cell.addEventListener("click", () => select(rotate(index)));
      cell.addEventListener("focus", () => { moveFocus(index); });
      cells.push(cell);
      line.append(cell);
    }
    board.append(line);
  }
  board.addEventListener("keydown", onKey);
  board.parentElement.append(make("div", { class: "coords", "aria-hidden": true, id: "coords" }));
  return cells;
}

function moveFocus(index) {
  cells[focused].tabIndex = -1;
  focused = index;
  cells[index].tabIndex = 0;
}

function onKey(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape" && selected.length) { selected = []; draw(); }
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  const column = focused % 8;
  if ((step === -1 && column === 0) || (step === 1 && column === 7)) return;
  if (focused + step < 0 || focused + step > 63) return;
  cells[focused + step].focus();
}

/// Returns the legal moves that start with these squares.
const matchingMoves = (path) => state.position.legal.filter((legal) => path.every((cell, i) => legal.path[i] === cell));

function select(cell) {
  if (state.editor) { onEdit(cell); return; }
  if (!canMove()) return;
  if (state.game === "othello") {
    const legal = state.position.legal.find((move) => move.path[0] === cell);
    if (legal) onMove(legal.move);
    return;
  }
  const path = [...selected, cell];
  let moves = matchingMoves(path);
  if (!moves.length) { // another square starts a new selection
    selected = matchingMoves([cell]).length && cell !== selected[0] ? [cell] : [];
    draw();
    return;
  }
  selected = path;
  const complete = moves.find((move) => move.path.length === path.length);
  if (complete && moves.length === 1) { selected = []; onMove(complete.move); return; }
  // A jump with only one continuation is completed automatically.
  if (moves.length === 1 && path.length > 1) { selected = []; onMove(moves[0].move); return; }
  draw();
}

const NAMES = { X: "black", O: "white", B: "black king", W: "white king" };
const label = (cell, content, isLegal) => {
  const piece = { X: state.game === "othello" ? "black disc" : "black man", O: state.game === "othello" ? "white disc" : "white man" }[content] ?? NAMES[content] ?? "empty";
  return `${nameOf(cell)}, ${piece}${isLegal ? ", legal move" : ""}`;
};

/// Draws the position; `hints` maps cells to texts.
export function draw(hints = draw.hints ?? new Map()) {
  draw.hints = hints;
  const position = state.editor ?? state.position;
  if (!position) return;
  const isTurn = canMove();
  const next = state.game === "checkers" && selected.length
    ? new Set(matchingMoves(selected).map((move) => move.path[selected.length]))
    : new Set(position.legal.map((move) => move.path[0]));
  const lastStep = state.editor ? null : state.node.step;
  const last = lastStep ? lastStep.path[lastStep.path.length - 1] : -1;
  const before = drawnCells;
  for (let index = 0; index < 64; index++) {
    const cell = rotate(index), node = cells[index], content = position.cells[cell];
    const isLegal = isTurn && next.has(cell);
    const kind = state.game === "checkers" ? (isDark(cell) ? " dark" : " light") : "";
    node.className = `cell${kind}${isLegal ? " can" : ""}${cell === last ? " last" : ""}${selected.includes(cell) ? " selected" : ""}`;
    node.setAttribute("aria-label", label(cell, content, isLegal));
    const parts = [];
    if (state.game === "checkers" && isDark(cell)) parts.push(make("span", { class: "number", "aria-hidden": true }, nameOf(cell)));
    if (content !== "-") {
      const color = content === "X" || content === "B" ? "black" : "white";
      const previous = before?.[cell];
      const moved = before && previous !== content ? (previous === "-" ? " placed" : " turned") : "";
      parts.push(make("span", { class: `disc ${color}${"BW".includes(content) ? " king" : ""}${moved}` }));
    } else if (isLegal && !state.editor) parts.push(make("span", { class: "dot" }));
    const hint = state.editor ? null : hints.get(cell);
    if (hint) {
      node.classList.add("hinted");
      if (hint.value !== undefined) parts.push(make("span", { class: `value ${hint.kind ?? ""}${hint.probability === undefined ? "" : " raised"}` }, hint.value));
      if (hint.probability !== undefined) parts.push(make("span", { class: "probability", style: `--p:${(100 * hint.probability).toFixed(0)}%` }, `${(100 * hint.probability).toFixed(0)}%`));
      if (hint.label) node.setAttribute("aria-label", `${label(cell, content, isLegal)}, ${hint.label}`);
    }
    fill(node, parts);
  }
  drawnCells = position.cells;
  coords();
}

function coords() {
  const { game } = state;
  const node = $("coords");
  const drawn = `${game} ${currentTurns()}`;
  if (node.dataset.drawn === drawn) return;
  node.dataset.drawn = drawn;
  if (game !== "othello") return fill(node);
  const labels = [];
  const isSideways = currentTurns() % 2 === 1;
  for (let i = 0; i < 8; i++) {
    const at = `${3.4 + 93.2 * ((i + 0.5) / 8)}%`;
    const [top, left] = [nameOf(rotate(i)), nameOf(rotate(8 * i))];
    labels.push(make("span", { style: `left:${at};top:1.75%` }, top[isSideways ? 1 : 0]));
    labels.push(make("span", { style: `top:${at};left:1.75%` }, left[isSideways ? 0 : 1]));
  }
  fill(node, labels);
}

export const clearSelection = () => { selected = []; };
