// Game analysis: evaluation graph, mistakes, better moves.

import { $, make, fill, signed } from "./dom.js";
import { stream, abortable, isAbort } from "./api.js";
import { state, gameRequest, goTo, subscribe } from "./state.js";
import { evaluationGraph } from "./charts.js";

const request = abortable();
const IDLE_NOTE = "Evaluates every move with increasing depth. Othello endgames are solved exactly.";
let unit = "discs";
let running = false;
let analyzedGame = ""; // the game being analyzed

const currentGame = () => JSON.stringify(gameRequest());

const rows = () => [...state.analysis.values()].sort((a, b) => a.ply - b.ply);
const mistakeThreshold = () => (unit === "men" ? 0.4 : 1);

function graph() {
  const points = rows();
  if (!points.length) return fill($("graph"));
  fill($("graph"),
    evaluationGraph(points, { plies: state.moves.length, currentPly: state.ply, unit, onPick: goTo }),
    make("p", { class: "hint" }, `Evaluation for Black in ${unit} after each move. Red dots are mistakes of ${unit === "men" ? "0.8 men" : "3 discs"} or more. Click the graph to go to a move.`));
}

function mistakes() {
  const found = rows();
  if (!found.length) return fill($("mistakes"));
  const worst = found.filter((row) => row.loss >= mistakeThreshold()).sort((a, b) => b.loss - a.loss).slice(0, 8);
  const current = state.analysis.get(state.ply);
  const sum = (side) => found.filter((row) => row.side === side).reduce((all, row) => all + row.loss, 0);
  const entry = (row) => make("button", { type: "button", class: "mistake", onclick: () => goTo(row.ply - 1) },
    make("span", { class: "loss" }, `−${row.loss.toFixed(row.exact ? 0 : 1)}`),
    make("b", {}, `${row.ply}. ${row.side === "black" ? "Black" : "White"} ${row.played}`),
    make("small", {}, row.better.length ? `Better: ${row.better.map((one) => `${one.move} (+${one.gain.toFixed(row.exact ? 0 : 1)})`).join(", ")}${row.better[0].line.length > 2 ? ` — ${row.better[0].line.join(" ")}` : ""}` : `Best: ${row.best.join(", ")}`,
      row.exact ? " · exact" : ` · depth ${row.depth}`));
  fill($("mistakes"),
    current ? make("p", {}, make("b", {}, `${current.ply}. ${current.played}`), ` — ${current.loss < mistakeThreshold() ? "good move" : `mistake, loss ${current.loss.toFixed(1)} ${unit}`}; evaluation for Black ${signed(current.value_after, current.exact ? 0 : 1)} (${current.exact ? "exact" : `depth ${current.depth}`}).`) : null,
    make("h2", {}, worst.length ? "Worst mistakes" : "No mistakes"),
    worst.map(entry),
    make("p", { class: "hint" }, `Total loss: Black ${sum("black").toFixed(0)}, White ${sum("white").toFixed(0)} ${unit}. Select a mistake to see the position before it.`));
}

export function drawMoves() {
  const items = state.moves.map((move, index) => {
    const row = state.analysis.get(index + 1);
    const step = state.line.steps[index];
    return make("li", {}, make("button", { type: "button", class: step.side, "aria-current": state.ply === index + 1 ? "true" : null,
      "aria-label": `${index + 1}. ${step.side} ${move}${row && row.loss >= mistakeThreshold() ? `, loss ${row.loss.toFixed(1)}` : ""}`, onclick: () => goTo(index + 1) },
    move, row && row.loss >= mistakeThreshold() ? make("span", { class: "loss" }, `−${row.loss.toFixed(0)}`) : null));
  });
  fill($("moves"), items.length ? items : make("li", { class: "hint" }, "No moves yet."));
  const current = $("moves").querySelector("[aria-current]");
  if (current) $("moves").scrollTop = current.offsetTop - $("moves").offsetTop - 60;
}

const draw = () => { graph(); mistakes(); drawMoves(); };

let drawScheduled = false;
function scheduleDraw() {
  if (drawScheduled) return;
  drawScheduled = true;
  requestAnimationFrame(() => { drawScheduled = false; draw(); });
}

export async function analyze() {
  if (running) { request.stop(); return; }
  if (!state.moves.length) { $("analysis-note").textContent = "No moves yet. Play or import a game."; return; }
  const signal = request.start();
  state.analysis.clear();
  running = true;
  analyzedGame = currentGame();
  $("analyze").textContent = "Stop";
  $("analysis-note").textContent = "Analyzing…";
  try {
    await stream("/api/analyze", { ...gameRequest(), time: 8 }, signal, (line) => {
      if (signal.aborted || analyzedGame !== currentGame()) return;
      if (line.unit) unit = line.unit;
      else if (line.done) $("analysis-note").textContent = `Done in ${line.seconds.toFixed(1)} s: depth ${line.depth}${rows().some((row) => row.exact) ? ", endgame exact" : ""}.`;
      else {
        state.analysis.set(line.ply, line);
        $("analysis-note").textContent = `Analyzing, depth ${line.depth}…`;
        scheduleDraw();
      }
    });
  } catch (error) {
    $("analysis-note").textContent = !isAbort(error) ? error.message : analyzedGame === currentGame() ? "Stopped." : "Stopped: the game has changed.";
  }
  running = false;
  $("analyze").textContent = "Analyze game";
  draw();
}

export function setup() {
  $("analyze").addEventListener("click", analyze);
  subscribe((event) => {
    if (event === "new-game") {
      request.stop();
      $("analysis-note").textContent = IDLE_NOTE;
      return;
    }
    // Further results would belong to moves that no longer exist.
    if (running && analyzedGame !== currentGame()) request.stop();
    draw();
  });
}
