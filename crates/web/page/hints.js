// Hints on the board: evaluations of moves and expert predictions.

import { $, signed } from "./dom.js";
import { post, stream, abortable, isAbort } from "./api.js";
import { state, gameRequest, subscribe } from "./state.js";
import { draw } from "./board.js";

const evaluationRequest = abortable();
const expertsRequest = abortable();
let evaluation = null; // the latest result of the search
let experts = null; // the expert probabilities
let isSearching = false;

const enabled = () => ({ evaluation: $("show-evaluation").checked, experts: $("show-experts").checked });

/// Returns the hints by cell.
function cellHints() {
  const hints = new Map();
  const hintFor = (cell) => { if (!hints.has(cell)) hints.set(cell, {}); return hints.get(cell); };
  if (evaluation && enabled().evaluation) {
    const best = Math.max(...evaluation.moves.map((move) => move.value));
    const badLoss = evaluation.unit === "men" ? 1 : 4;
    for (const move of evaluation.moves) {
      // In checkers, several moves may start on the same square; it shows the best of them.
      const hint = hintFor(move.path[0]);
      if (hint.best !== undefined && hint.best >= move.value) continue;
      hint.best = move.value;
      hint.value = signed(move.value, move.exact ? 0 : 1);
      hint.kind = move.value >= best - 0.05 ? "best" : move.value < best - badLoss ? "bad" : "";
      hint.label = `${move.exact ? "exact" : "estimated"} ${signed(move.value)} ${evaluation.unit}`;
    }
  }
  if (experts && enabled().experts) {
    for (const move of experts) {
      const legal = state.position.legal.find((one) => one.move === move.move);
      if (!legal) continue;
      const hint = hintFor(legal.path[0]);
      hint.probability = move.probability;
      hint.label = `${hint.label ? `${hint.label}, ` : ""}experts ${(100 * move.probability).toFixed(0)} percent`;
    }
  }
  return hints;
}

function updateNote() {
  const lines = [];
  if (evaluation && enabled().evaluation && evaluation.moves.length) {
    const best = evaluation.moves[0];
    const accuracy = evaluation.exact ? "exact" : `depth ${evaluation.depth}${evaluation.selectivity ? `, pruned at ${evaluation.selectivity}σ` : ""}`;
    lines.push(`Best line: ${best.line.join(" ")} (${signed(best.value, best.exact ? 0 : 1)} ${evaluation.unit}, ${accuracy}, ${evaluation.nodes.toLocaleString("en")} positions).`);
  }
  if (enabled().experts) {
    lines.push(state.game === "othello" ? "Percentages: probability that an expert plays the move." : "Expert predictions are available for Othello only.");
  }
  $("hint-note").textContent = lines.join(" ");
  $("deeper").hidden = !enabled().evaluation || !evaluation || evaluation.exact || isSearching;
}

const show = () => { draw(cellHints()); updateNote(); };

/// Evaluates the moves for some seconds. A longer search replaces the values once it is deeper.
async function requestEvaluation(time = 4) {
  const signal = evaluationRequest.start();
  if (time <= 4) evaluation = null;
  if (!enabled().evaluation || state.position.over || state.editor) return;
  isSearching = true;
  try {
    await stream("/api/evaluate", { ...gameRequest(state.ply), time }, signal, (line) => {
      if (signal.aborted || line.done || line.depth < (evaluation?.depth ?? 0)) return;
      evaluation = line;
      show();
    });
  } catch (error) { if (!isAbort(error)) $("hint-note").textContent = error.message; }
  if (signal.aborted) return;
  isSearching = false;
  show();
}

async function requestExperts() {
  const signal = expertsRequest.start();
  experts = null;
  if (!enabled().experts || state.position.over || state.editor || state.game !== "othello") return;
  try {
    experts = (await post("/api/experts", gameRequest(state.ply), signal)).moves;
    if (!signal.aborted) show();
  } catch (error) { if (!isAbort(error)) $("hint-note").textContent = error.message; }
}

export function setup() {
  $("show-evaluation").addEventListener("change", () => { requestEvaluation(); show(); });
  $("show-experts").addEventListener("change", () => { requestExperts(); show(); });
  $("deeper").addEventListener("click", () => requestEvaluation(30));
  subscribe((event) => {
    if (event === "new-game" || event === "analysis") return;
    if (event === "position") { requestEvaluation(); requestExperts(); }
    show();
  });
}
