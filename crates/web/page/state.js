// The game on the board: its moves, which of them is shown, who plays. It lives in the address of
// the page, so that reloading, going back and sharing all work.

import { post } from "./api.js";

export const state = {
  game: "othello",
  start: null,
  moves: [],
  ply: 0, // how many of the moves are shown
  side: "black", // which side the person plays: black, white or both
  opponent: "heuristic@4",
  seed: 1,
  names: { black: "", white: "" }, // of a game that was opened
  line: null, // the whole game as the server sees it
  here: null, // the position shown, with its legal moves
  analysis: new Map(), // what is known of each move, by its number from 1
  flagged: null, // the side whose time ran out
};

const listeners = new Set();
export const listen = (listener) => listeners.add(listener);
const tell = (what) => listeners.forEach((listener) => listener(what));

const text = (moves) => (state.game === "othello" ? moves.join("") : moves.join(" "));
export const transcript = () => text(state.moves);
export const sent = (plies = state.moves.length) =>
  ({ game: state.game, start: state.start ?? undefined, moves: text(state.moves.slice(0, plies)) });
export const atEnd = () => state.ply === state.moves.length;
export const isMine = (side) => state.side === "both" || state.side === side;

/// Takes over a game as the server has read it; throws, changing nothing, when it is not one.
async function adopt(game, start, moves, keep = 0) {
  const line = await post("/api/position", { game, start: start ?? undefined, moves });
  state.game = game;
  state.start = line.start;
  state.line = line;
  state.moves = line.steps.map((step) => step.move);
  for (const ply of [...state.analysis.keys()]) if (ply > keep) state.analysis.delete(ply);
}

let turn = 0;

async function show(ply) {
  const mine = ++turn;
  state.ply = Math.max(0, Math.min(ply, state.moves.length));
  const here = atEnd() ? state.line.at : (await post("/api/position", sent(state.ply))).at;
  if (mine !== turn) return false;
  state.here = here;
  address();
  tell("position");
  return true;
}

/// A new game from the start, or from moves that were given.
export async function begin({ game = state.game, start = null, moves = "", names = {}, at = null } = {}) {
  await adopt(game, start, moves);
  state.seed = crypto.getRandomValues(new Uint32Array(1))[0];
  state.names = { black: names.black ?? "", white: names.white ?? "" };
  state.flagged = null;
  tell("begin");
  await show(at ?? state.moves.length);
}

/// Plays a move from the position shown; what came after it is dropped.
export async function play(move) {
  const same = state.moves[state.ply] === move;
  if (same) return show(state.ply + 1);
  const before = state.moves.slice(0, state.ply);
  await adopt(state.game, state.start, text([...before, move]), before.length);
  state.flagged = null;
  return show(state.moves.length);
}

/// Drops moves from the end.
export async function takeBack(count) {
  const kept = state.moves.slice(0, Math.max(0, state.moves.length - count));
  await adopt(state.game, state.start, text(kept), kept.length);
  state.flagged = null;
  return show(kept.length);
}

export const goTo = (ply) => show(ply);
export const changed = (what) => { address(); tell(what); };

/// The cells of a position of the game, before the first move being 0.
export const cellsAt = (ply) => (ply === 0 ? state.line.first.cells : state.line.steps[ply - 1].cells);

function address() {
  const part = new URLSearchParams({ g: state.game });
  if (state.moves.length) part.set("m", transcript());
  if (state.start) part.set("s", state.start);
  if (!atEnd()) part.set("at", state.ply);
  part.set("you", state.side);
  part.set("with", state.opponent);
  const next = `#${part}`;
  if (location.hash !== next) history.replaceState(null, "", next);
}

/// The game in the address of the page, if there is one.
export async function restore() {
  const part = new URLSearchParams(location.hash.slice(1));
  const side = part.get("you");
  if (["black", "white", "both"].includes(side)) state.side = side;
  if (part.get("with")) state.opponent = part.get("with");
  const game = part.get("g") === "checkers" ? "checkers" : "othello";
  const at = part.has("at") ? Number(part.get("at")) || 0 : null;
  try {
    await begin({ game, start: part.get("s"), moves: part.get("m") ?? "", at });
    return null;
  } catch (error) {
    await begin({ game: "othello" });
    return error.message;
  }
}
