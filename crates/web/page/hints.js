// What the search thinks of each move and what experts would play, written on the board when asked.

import { $, signed } from "./dom.js";
import { post, stream, latest, abandoned } from "./api.js";
import { state, sent, listen } from "./state.js";
import { draw } from "./board.js";

const search = latest();
const predictor = latest();
let thought = null; // what the search said last
let odds = null; // what experts would play

const wanted = () => ({ search: $("show-search").checked, experts: $("show-experts").checked });

/// What to write on which cell.
function marks() {
  const hints = new Map();
  const on = (cell) => { if (!hints.has(cell)) hints.set(cell, {}); return hints.get(cell); };
  if (thought && wanted().search) {
    const best = Math.max(...thought.moves.map((move) => move.worth));
    const worst = thought.unit === "men" ? 1 : 4;
    for (const move of thought.moves) {
      // In checkers several moves may share their first square: the best one is shown there.
      const hint = on(move.path[0]);
      if (hint.worth !== undefined && hint.worth >= move.worth) continue;
      hint.worth = move.worth;
      hint.value = signed(move.worth, move.exact ? 0 : 1);
      hint.kind = move.worth >= best - 0.05 ? "best" : move.worth < best - worst ? "bad" : "";
      hint.say = `${move.exact ? "exactly" : "estimated"} ${signed(move.worth)} ${thought.unit}`;
    }
  }
  if (odds && wanted().experts) {
    for (const move of odds) {
      const legal = state.here.legal.find((one) => one.move === move.move);
      if (!legal) continue;
      const hint = on(legal.path[0]);
      hint.odds = move.probability;
      hint.say = `${hint.say ? `${hint.say}, ` : ""}experts ${(100 * move.probability).toFixed(0)} percent`;
    }
  }
  return hints;
}

function note() {
  const lines = [];
  if (thought && wanted().search && thought.moves.length) {
    const best = thought.moves[0];
    const how = thought.exact ? "solved to the end" : `estimated, ${thought.depth} moves deep`;
    lines.push(`Best: ${best.line.join(" ")} (${signed(best.worth, best.exact ? 0 : 1)} ${thought.unit}, ${how}; ${thought.nodes.toLocaleString("en")} positions).`);
  }
  if (wanted().experts) {
    lines.push(state.game === "othello" ? "Percentages: how often an expert would choose the move." : "There is no predictor of experts' moves for checkers.");
  }
  $("hint-note").textContent = lines.join(" ");
}

const show = () => { draw(marks()); note(); };

async function think() {
  const signal = search.begin();
  thought = null;
  if (!wanted().search || state.here.over) return;
  try {
    await stream("/api/think", { ...sent(state.ply), time: 4 }, signal, (told) => {
      if (signal.aborted || told.done) return;
      thought = told;
      show();
    });
  } catch (error) { if (!abandoned(error)) $("hint-note").textContent = error.message; }
}

async function ask() {
  const signal = predictor.begin();
  odds = null;
  if (!wanted().experts || state.here.over || state.game !== "othello") return;
  try {
    odds = (await post("/api/experts", sent(state.ply), signal)).moves;
    if (!signal.aborted) show();
  } catch (error) { if (!abandoned(error)) $("hint-note").textContent = error.message; }
}

export function setUp() {
  $("show-search").addEventListener("change", () => { think(); show(); });
  $("show-experts").addEventListener("change", () => { ask(); show(); });
  listen((what) => {
    if (what === "begin") return;
    if (what === "position") { think(); ask(); }
    show();
  });
}
