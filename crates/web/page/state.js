// The state of the game on the board. It is stored in the URL, so that reload, back and sharing work.

import { post } from "./api.js";

export const state = {
  game: "othello",
  start: null,
  moves: [],
  ply: 0, // the number of moves shown
  side: "black", // the user's side: black, white or both
  opponent: "heuristic@4",
  seed: 1,
  names: { black: "", white: "" }, // players of an imported game
  line: null, // the whole game from the server
  position: null, // the position shown, with its legal moves
  analysis: new Map(), // analyzed moves by ply, from 1
  timedOut: null, // the side whose time is up
};

const listeners = new Set();
export const subscribe = (listener) => listeners.add(listener);
const notify = (event) => listeners.forEach((listener) => listener(event));

const text = (moves) => (state.game === "othello" ? moves.join("") : moves.join(" "));
export const transcript = () => text(state.moves);
export const gameRequest = (plies = state.moves.length) =>
  ({ game: state.game, start: state.start ?? undefined, moves: text(state.moves.slice(0, plies)) });
export const isAtEnd = () => state.ply === state.moves.length;
export const isUserSide = (side) => state.side === "both" || state.side === side;

/// Loads a game; throws and changes nothing if it is invalid. Keeps the analysis of the first `analyzed` plies.
async function load(game, start, moves, analyzed = 0) {
  const line = await post("/api/position", { game, start: start ?? undefined, moves });
  state.game = game;
  state.start = line.start;
  state.line = line;
  state.moves = line.steps.map((step) => step.move);
  for (const ply of [...state.analysis.keys()]) if (ply > analyzed) state.analysis.delete(ply);
}

let showCount = 0;

async function show(ply) {
  const call = ++showCount;
  state.ply = Math.max(0, Math.min(ply, state.moves.length));
  const position = isAtEnd() ? state.line.current : (await post("/api/position", gameRequest(state.ply))).current;
  if (call !== showCount) return false; // a later call has replaced this one
  state.position = position;
  updateUrl();
  notify("position");
  return true;
}

/// Starts a new game, or loads one.
export async function startGame({ game = state.game, start = null, moves = "", names = {}, at = null } = {}) {
  await load(game, start, moves);
  state.seed = crypto.getRandomValues(new Uint32Array(1))[0];
  state.names = { black: names.black ?? "", white: names.white ?? "" };
  state.timedOut = null;
  notify("new-game");
  await show(at ?? state.moves.length);
}

/// Plays a move in the position shown. Later moves are dropped, unless the move is the next one of the game.
export async function play(move) {
  if (state.moves[state.ply] === move) return show(state.ply + 1);
  const before = state.moves.slice(0, state.ply);
  await load(state.game, state.start, text([...before, move]), before.length);
  state.timedOut = null;
  return show(state.moves.length);
}

/// Takes back moves from the end.
export async function takeBack(count) {
  const left = state.moves.slice(0, Math.max(0, state.moves.length - count));
  await load(state.game, state.start, text(left), left.length);
  state.timedOut = null;
  return show(left.length);
}

export const goTo = (ply) => show(ply);
export const notifyChange = (event) => { updateUrl(); notify(event); };

/// Writes the state to the URL.
function updateUrl() {
  const params = new URLSearchParams({ g: state.game });
  if (state.moves.length) params.set("m", transcript());
  if (state.start) params.set("s", state.start);
  if (!isAtEnd()) params.set("at", state.ply);
  params.set("you", state.side);
  params.set("with", state.opponent);
  const next = `#${params}`;
  if (location.hash !== next) history.replaceState(null, "", next);
}

/// Restores the game from the URL; returns an error message if it is invalid.
export async function restore() {
  const params = new URLSearchParams(location.hash.slice(1));
  const side = params.get("you");
  if (["black", "white", "both"].includes(side)) state.side = side;
  if (params.get("with")) state.opponent = params.get("with");
  const game = params.get("g") === "checkers" ? "checkers" : "othello";
  const at = params.has("at") ? Number(params.get("at")) || 0 : null;
  try {
    await startGame({ game, start: params.get("s"), moves: params.get("m") ?? "", at });
    return null;
  } catch (error) {
    await startGame({ game: "othello" });
    return error.message;
  }
}
