// Game analysis: evaluation graph, graded mistakes, accuracy, turning points. It deepens and can be continued.

import { $, make, fill, signed } from "./dom.js";
import { stream, abortable, isAbort } from "./api.js";
import { state, gameRequest, goToNode, subscribe, saveGame, notifyChange } from "./state.js";
import { evaluationGraph } from "./charts.js";
import { SIGNS, isMarked } from "./moves.js";

const request = abortable();
const IDLE_NOTE = "Evaluates every move of the line shown, deeper and deeper. Othello endgames are solved exactly.";
/// Seconds of the first analysis and of each continuation.
const SECONDS = { first: 8, more: 40 };
/// The known depth of a solved position in a request.
const SOLVED = 255;
let running = false;

const unit = () => (state.game === "othello" ? "discs" : "men");
const nodes = () => state.path.filter((node) => node.row);
const rows = () => nodes().map((node) => node.row);
const number = (row, value) => value.toFixed(row.exact ? 0 : 1);
const sideName = (side) => (side === "black" ? "Black" : "White");

/// Describes how reliable a value is.
export const reliability = (row) => (row.exact ? "exact" : `depth ${row.depth}, ${row.selectivity ? `pruned at ${row.selectivity}σ` : "no pruning"}`);

// Summary.

/// Moves with a choice that lose less than an inaccuracy count as accurate.
function summarize(side) {
  const own = rows().filter((row) => row.side === side && row.legal_moves > 1 && row.loss != null);
  const count = (grade) => own.filter((row) => row.grade === grade).length;
  const loss = own.reduce((sum, row) => sum + row.loss, 0);
  return { moves: own.length, accurate: own.filter((row) => !isMarked(row)).length, loss, counts: Object.keys(SIGNS).map((grade) => [grade, count(grade)]) };
}

function summary() {
  const cells = (side) => {
    const found = summarize(side);
    return make("tr", {}, make("th", { scope: "row" }, state.names[side] || sideName(side)),
      make("td", { class: "r" }, found.moves ? `${((100 * found.accurate) / found.moves).toFixed(0)}%` : "–"),
      make("td", { class: "r" }, found.moves ? (found.loss / found.moves).toFixed(2) : "–"),
      found.counts.map(([grade, count]) => make("td", { class: `r ${count ? grade : ""}` }, String(count))));
  };
  const head = (text, title) => make("th", { scope: "col", class: "r", title }, text);
  return make("div", { class: "scroll" }, make("table", { class: "summary" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Side"), head("Accuracy", `Moves with a choice that lose less than ${unit() === "men" ? 0.4 : 2} ${unit()}`), head("Loss per move", `Mean loss in ${unit()}`),
      head("?!", "Inaccuracies"), head("?", "Mistakes"), head("??", "Blunders"))),
    make("tbody", {}, cells("black"), cells("white"))));
}

/// Returns the moves after which, with best play, another side wins.
function turningPoints() {
  const sign = (value) => (Math.abs(value) < 0.5 ? 0 : Math.sign(value));
  return nodes().filter(({ row }) => row.value != null && row.value_after != null && isMarked(row) && sign(row.value) !== sign(row.value_after));
}

const outcome = (value) => (Math.abs(value) < 0.5 ? "a draw" : value > 0 ? "Black ahead" : "White ahead");

// Views.

function graph() {
  const points = rows().filter((row) => row.value_after != null);
  if (!points.length) return fill($("graph"));
  fill($("graph"),
    evaluationGraph(points, { plies: state.path.length, currentPly: state.ply, unit: unit(), onPick: (ply) => goToNode(ply ? state.path[ply - 1] : state.root) }),
    make("p", { class: "hint" }, `Value for Black in ${unit()} after each move. `, Object.entries({ inaccuracy: "inaccuracy", mistake: "mistake", blunder: "blunder" }).map(([grade, text]) => make("span", { class: `key ${grade}` }, `${SIGNS[grade]} ${text} `)), "Click the graph to go to a move."));
}

function mistakeButton(node) {
  const { row } = node;
  const best = row.better[0];
  return make("button", { type: "button", class: `entry ${row.grade}`, onclick: () => goToNode(node.parent) },
    make("span", { class: "loss" }, `−${number(row, row.loss)}`),
    make("b", {}, `${row.ply}. ${sideName(row.side)} ${row.played} `, make("span", { class: "sign" }, SIGNS[row.grade] ?? "")),
    make("small", {}, best ? `Better: ${row.better.map((one) => `${one.move} (+${number(row, one.gain)})`).join(", ")}${best.line.length > 2 ? `; line ${best.line.join(" ")}` : ""}` : `Best: ${row.best.join(", ")}`, ` · ${reliability(row)}`),
    row.note ? make("small", { class: "note" }, row.note) : null);
}

function currentMove() {
  const { row } = state.node;
  if (!row) return null;
  const judgement = isMarked(row) ? `${row.grade}, loses ${number(row, row.loss)} ${unit()}` : row.loss == null ? "not graded" : "good move";
  return make("p", { id: "current-move" }, make("b", {}, `${row.ply}. ${row.played}`), ` – ${judgement}${row.value_after == null ? "" : `; value for Black ${signed(row.value_after, row.exact ? 0 : 1)}`} (${reliability(row)}).${row.note ? ` ${row.note}` : ""}`);
}

function mistakes() {
  if (!rows().length) return fill($("mistakes"));
  const only = $("mistakes-of").value;
  const found = nodes().filter(({ row }) => isMarked(row) && (only === "both" || row.side === only)).sort((a, b) => b.row.loss - a.row.loss || a.row.ply - b.row.ply);
  const turns = turningPoints();
  fill($("mistakes"), currentMove(), summary(),
    turns.length ? [make("h2", {}, "Turning points"), make("ul", { class: "turns" }, turns.map((node) => make("li", {},
      make("button", { type: "button", class: "link", onclick: () => goToNode(node) }, `${node.row.ply}. ${node.row.played}`), ` from ${outcome(node.row.value)} to ${outcome(node.row.value_after)}`)))] : null,
    make("h2", {}, found.length ? "Mistakes, worst first" : "No mistakes"),
    found.slice(0, 12).map(mistakeButton),
    make("p", { class: "hint" }, found.length > 12 ? `${found.length - 12} smaller ones are in the list of moves. ` : "", found.length ? "Select a mistake to see the position before it." : ""));
}

function drawButton() {
  const isDone = rows().length > 0 && rows().length === state.path.length;
  const isExact = isDone && rows().every((row) => row.exact);
  $("analyze").textContent = running ? "Stop" : isDone ? "Continue deeper" : rows().length ? "Analyze the other moves" : "Analyze game";
  $("analyze").disabled = !running && isExact;
  $("mistakes-of-field").hidden = !rows().length;
}

const draw = () => { graph(); mistakes(); drawButton(); };

let drawScheduled = false;
function scheduleDraw() {
  if (drawScheduled) return;
  drawScheduled = true;
  requestAnimationFrame(() => { drawScheduled = false; notifyChange("analysis"); });
}

/// Describes the depths of a line, such as `10 to 12, 20 moves exact`.
function depthText(path) {
  const depths = path.filter((node) => !node.row?.exact).map((node) => node.row?.depth ?? 0);
  const [low, high] = [Math.min(...depths), Math.max(...depths)];
  const exact = path.length - depths.length;
  return [depths.length ? (low === high ? low : `${low} to ${high}`) : "", exact ? `${exact} moves exact` : ""].filter(Boolean).join(", ");
}

// Requests.

export async function analyze() {
  if (running) { request.stop(); return; }
  if (!state.path.length) { $("analysis-note").textContent = "No moves yet. Play or import a game."; return; }
  const signal = request.start();
  const path = [...state.path], { root } = state;
  // The analysis continues from the depths that were reached.
  const knownDepths = path.map(({ row }) => (row?.exact ? SOLVED : row?.depth ?? 0));
  const isFirst = knownDepths.includes(0);
  running = true;
  drawButton();
  $("analysis-note").textContent = "Analyzing…";
  let isDone = false;
  try {
    await stream("/api/analyze", { ...gameRequest(), time: isFirst ? SECONDS.first : SECONDS.more, known_depths: knownDepths }, signal, (line) => {
      if (signal.aborted || root !== state.root) return;
      if (line.done) {
        isDone = true;
        $("analysis-note").textContent = `Depth ${depthText(path)}; ${line.seconds.toFixed(1)} s.`;
      } else if (line.ply) {
        path[line.ply - 1].row = line;
        $("analysis-note").textContent = `Analyzing, depth ${line.depth}…`;
        scheduleDraw();
      }
    });
    if (!isDone && !signal.aborted) $("analysis-note").textContent = "The connection was lost. Continue to go on.";
  } catch (error) {
    $("analysis-note").textContent = isAbort(error) ? "Stopped. The values so far are kept." : `${error.message} The values so far are kept.`;
  }
  running = false;
  saveGame();
  draw();
}

export function setup() {
  $("analyze").addEventListener("click", analyze);
  $("mistakes-of").addEventListener("change", draw);
  subscribe((event) => {
    if (event === "new-game") {
      if (running) request.stop();
      $("analysis-note").textContent = IDLE_NOTE;
    } else if (event !== "view") draw();
  });
}
