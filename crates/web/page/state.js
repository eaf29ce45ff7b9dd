// The state of the game on the board: a tree of moves, the line shown, and the position in it.
//
// The address has the game with its variations; local storage also has analysis, clock and names. Every game is
// one entry of the browser's history.

import { post } from "./api.js";
import * as tree from "./tree.js";
import * as store from "./store.js";

const noClock = () => ({ minutes: 0, increment: 0, seconds: { black: 0, white: 0 }, side: null, since: 0 });

export const state = {
  id: "", // identifies the game in local storage
  game: "othello",
  start: null,
  root: tree.createRoot(null),
  path: [], // the nodes of the line shown
  ply: 0, // the number of moves shown
  side: "black", // the user's side: black, white, both or none
  opponent: "heuristic@4",
  blackPlayer: "champion", // Black's player if the user only watches
  seed: 1,
  names: { black: "", white: "" }, // players of an imported game
  position: null, // the position shown, with its legal moves
  timedOut: null, // the side whose time is up
  clock: noClock(),
  editor: null, // the position being set up
  get moves() { return this.path.map((node) => node.move); },
  get steps() { return this.path.map((node) => node.step); },
  get initial() { return this.root.position; },
  get node() { return this.ply ? this.path[this.ply - 1] : this.root; },
};

const listeners = new Set();
export const subscribe = (listener) => listeners.add(listener);
const notify = (event) => listeners.forEach((listener) => listener(event));

const join = (moves, game = state.game) => moves.join(game === "othello" ? "" : " ");
export const transcript = () => join(state.moves);
export const treeText = () => tree.write(state.root, state.game);
export const gameRequest = (plies = state.path.length) =>
  ({ game: state.game, start: state.start ?? undefined, moves: join(state.moves.slice(0, plies)) });
export const isAtEnd = () => state.ply === state.path.length;
export const isUserSide = (side) => state.side === "both" || state.side === side;
/// Returns whether the user may move: on the own turn, and for both sides in earlier positions.
export const canMove = () => state.position && !state.position.over && !state.editor
  && (!isAtEnd() || (isUserSide(state.position.side) && !state.timedOut));

const newId = () => [...crypto.getRandomValues(new Uint32Array(2))].map((x) => x.toString(36)).join("");

// Loading.

const requestLine = (game, start, moves) => post("/api/position", { game, start: start ?? undefined, moves });

function addLine(root, line) {
  const end = line.steps.reduce(tree.addChild, root);
  end.position = line.current;
  if (root.position === null) root.position = line.initial;
}

/// Loads a tree from its text; fails if the main line is invalid. Invalid variations are dropped.
async function loadTree(game, start, text) {
  const root = tree.createRoot(null);
  const [main, ...others] = text.includes("(") ? tree.lines(tree.parse(text, game)).map((moves) => join(moves, game)) : [text];
  const first = await requestLine(game, start, main);
  addLine(root, first);
  const found = await Promise.allSettled(others.slice(0, 300).map((moves) => requestLine(game, start, moves)));
  // In order, so that the numbers of moves stay the same.
  for (const one of found) if (one.status === "fulfilled") addLine(root, one.value);
  return { root, start: first.start };
}

let showCount = 0;

async function show(ply) {
  const call = ++showCount;
  state.ply = Math.max(0, Math.min(ply, state.path.length));
  const node = state.node;
  node.position ??= (await requestLine(state.game, state.start, join(state.moves.slice(0, state.ply)))).current;
  if (call !== showCount) return false; // a later call has replaced this one
  state.position = node.position;
  saveGame();
  notify("position");
  return true;
}

// Snapshots: undo and redo of everything that changes the game.

const MAX_UNDO = 300;
const undone = [], done = [];

function snapshot() {
  const nodes = tree.inOrder(state.root);
  const { id, game, start, side, opponent, seed, names, timedOut } = state;
  return { id, game, start, side, opponent, seed, names, timedOut, clock: structuredClone(state.clock),
    root: tree.clone(state.root), at: nodes.indexOf(state.node), end: nodes.indexOf(state.path.at(-1) ?? state.root) };
}

/// Remembers the game as it is, so that the next change can be undone.
export function remember() {
  done.push(snapshot());
  if (done.length > MAX_UNDO) done.shift();
  undone.length = 0;
}

/// Copies analyses from one tree to the same moves of another.
function copyRows(from, to) {
  if ((from.row?.depth ?? 0) > (to.row?.depth ?? 0)) to.row = from.row;
  for (const child of to.children) {
    const same = from.children.find((other) => other.move === child.move);
    if (same) copyRows(same, child);
  }
}

async function apply(old) {
  const isSameGame = old.id === state.id;
  if (isSameGame) copyRows(state.root, old.root);
  if (!isSameGame) saveGame();
  const { at, end, clock, ...rest } = old;
  Object.assign(state, rest);
  if (!isSameGame) state.clock = { ...clock, since: performance.now() };
  selectNodes(at, end);
  if (!isSameGame) { history.pushState({ id: state.id }, "", location.href); notify("new-game"); }
  await show(state.ply);
}

/// Shows the node with this number in the line that ends with another.
function selectNodes(at, end) {
  const nodes = tree.inOrder(state.root);
  const node = nodes[at] ?? state.root;
  state.path = tree.lineThrough(nodes[end] ?? node);
  const ply = tree.pathTo(node).length;
  if (ply && state.path[ply - 1] !== node) state.path = tree.lineThrough(node);
  state.ply = ply;
}

export const canUndo = () => done.length > 0;
export const canRedo = () => undone.length > 0;
export async function undo() { if (done.length) { undone.push(snapshot()); await apply(done.pop()); } }
export async function redo() { if (undone.length) { done.push(snapshot()); await apply(undone.pop()); } }

// Changes.

/// Starts a new game, or loads one. The previous one stays in the history of the browser and can be restored by undo.
export async function startGame({ game = state.game, start = null, moves = "", names = {}, at = null, record = null, isFirst = false, onLoaded = null } = {}) {
  const loaded = await loadTree(game, start, moves);
  if (!isFirst) { saveGame(); remember(); }
  onLoaded?.();
  if (record) tree.inOrder(loaded.root).forEach((node, index) => { node.row = record.rows?.[index] ?? null; });
  Object.assign(state, { game, start: loaded.start, root: loaded.root, timedOut: record?.timedOut ?? null, editor: null,
    id: record?.id ?? newId(), seed: record?.seed ?? crypto.getRandomValues(new Uint32Array(1))[0],
    names: { black: names.black ?? "", white: names.white ?? "" } });
  if (record) {
    state.clock = { ...noClock(), ...record.clock, since: performance.now() };
    for (const key of ["side", "opponent", "blackPlayer"]) if (record[key]) state[key] = record[key];
  }
  state.path = tree.lineThrough(state.root);
  if (record || at !== null) selectNodes(record?.at ?? at, record?.end ?? -1);
  else state.ply = state.path.length;
  if (!isFirst) history.pushState({ id: state.id }, "", location.href);
  notify("new-game");
  await show(state.ply);
}

/// Plays a move in the position shown. A move other than the next one of the line starts a variation.
export async function play(move, { isReply = false } = {}) {
  const { root, node } = state;
  let child = node.children.find((one) => one.move === move);
  if (!child) {
    const line = await requestLine(state.game, state.start, join([...state.moves.slice(0, state.ply), move]));
    if (state.root !== root || state.node !== node) return false; // the position has changed meanwhile
    if (!isReply) remember();
    child = tree.addChild(node, line.steps.at(-1));
    child.position = line.current;
  }
  const ply = state.ply + 1;
  if (state.path[state.ply] !== child) state.path = tree.lineThrough(child);
  return show(ply);
}

/// Takes back moves from the end of the line.
export async function takeBack(count) {
  remember();
  const first = state.path[Math.max(0, state.path.length - count)];
  tree.removeNode(first);
  state.path = tree.lineThrough(first.parent);
  state.timedOut = null;
  return show(tree.pathTo(first.parent).length);
}

/// Deletes the variation shown; on the main line, the moves after the position.
export async function deleteVariation() {
  const first = tree.variationOf(state.node) ?? state.path[state.ply];
  if (!first) return false;
  remember();
  tree.removeNode(first);
  state.path = tree.lineThrough(first.parent);
  return show(tree.pathTo(first.parent).length);
}

/// Makes the line shown the main line.
export async function promoteVariation() {
  remember();
  tree.makeMain(state.path.at(-1) ?? state.root);
  return show(state.ply);
}

export const goTo = (ply) => show(ply);

/// Shows the position after a node of any line.
export async function goToNode(node) {
  if (!state.path.includes(node)) state.path = tree.lineThrough(node);
  return show(tree.pathTo(node).length);
}

/// Shows the next or the previous alternative to the last move.
export async function goToSibling(step) {
  const siblings = state.node.parent?.children ?? [];
  const next = siblings[siblings.indexOf(state.node) + step];
  return next ? goToNode(next) : false;
}

export const notifyChange = (event) => { saveGame(); notify(event); };

// The address and local storage.

/// Returns the time left on the clock now.
export const clockSeconds = (side) => state.clock.seconds[side]
  - (state.clock.side === side ? (performance.now() - state.clock.since) / 1000 : 0);

/// Writes the game to the address and to local storage.
export function saveGame() {
  if (!state.position || !state.id) return;
  const nodes = tree.inOrder(state.root);
  const at = nodes.indexOf(state.node), end = nodes.indexOf(state.path.at(-1) ?? state.root);
  const moves = treeText();
  if (!location.hash.startsWith("#lab")) {
    const params = new URLSearchParams({ g: state.game });
    if (moves) params.set("m", moves);
    if (state.start) params.set("s", state.start);
    if (at !== nodes.indexOf(tree.lineThrough(state.root).at(-1) ?? state.root)) params.set("at", at);
    params.set("you", state.side);
    params.set("with", state.opponent);
    const next = `#${params}`;
    if (location.hash !== next || history.state?.id !== state.id) history.replaceState({ id: state.id }, "", next);
  }
  const { id, game, start, side, opponent, blackPlayer, names, seed, timedOut, clock } = state;
  const seconds = { black: clockSeconds("black"), white: clockSeconds("white") };
  store.save({ id, game, start, moves, at, end, side, opponent, blackPlayer, names, seed, timedOut,
    clock: { ...clock, seconds }, rows: nodes.map((node) => node.row) });
}

/// Opens a stored game.
export const openRecord = (record, isFirst = false) => startGame({ ...record, record, isFirst });

/// Restores the game of this entry of the browser's history, or else that of the address.
/// Returns an error message if it is invalid.
export async function restore() {
  const record = history.state?.id ? store.find(history.state.id) : null;
  if (record && record.id === state.id) return null;
  saveGame();
  try {
    if (record) { await openRecord(record, true); return null; }
  } catch { /* fall back to the address */ }
  const params = new URLSearchParams(location.hash.slice(1));
  const side = params.get("you");
  if (["black", "white", "both", "none"].includes(side)) state.side = side;
  if (params.get("with")) state.opponent = params.get("with");
  const game = params.get("g") === "checkers" ? "checkers" : "othello";
  const at = params.has("at") ? Number(params.get("at")) || 0 : null;
  state.clock = noClock();
  try {
    await startGame({ game, start: params.get("s"), moves: params.get("m") ?? "", at, isFirst: true });
    return null;
  } catch (error) {
    await startGame({ game: "othello", isFirst: true });
    return error.message;
  }
}
