// Looking through a game: the graph, the worst moves, what would have been better and its price.

import { $, make, fill, signed } from "./dom.js";
import { stream, latest, abandoned } from "./api.js";
import { state, sent, goTo, listen } from "./state.js";
import { course } from "./charts.js";

const work = latest();
let unit = "discs";
let busy = false;
let asked = ""; // the game that is looked at

const game = () => JSON.stringify(sent());

const rows = () => [...state.analysis.values()].sort((a, b) => a.ply - b.ply);
const wrong = () => (unit === "men" ? 0.4 : 1);

function graph() {
  const points = rows();
  if (!points.length) return fill($("graph"));
  fill($("graph"),
    course(points, { plies: state.moves.length, at: state.ply, unit, onPick: goTo }),
    make("p", { class: "hint" }, `Black's margin in ${unit} after each move, with best play from there on. A red dot is a mistake; pick a move in the graph.`));
}

function mistakes() {
  const found = rows();
  if (!found.length) return fill($("mistakes"));
  const worst = found.filter((row) => row.loss >= wrong()).sort((a, b) => b.loss - a.loss).slice(0, 8);
  const here = state.analysis.get(state.ply);
  const sum = (side) => found.filter((row) => row.side === side).reduce((all, row) => all + row.loss, 0);
  const entry = (row) => make("button", { type: "button", class: "mistake", onclick: () => goTo(row.ply - 1) },
    make("span", { class: "cost" }, `−${row.loss.toFixed(row.exact ? 0 : 1)}`),
    make("b", {}, `${row.ply}. ${row.side === "black" ? "Black" : "White"} ${row.played}`),
    make("small", {}, row.better.length ? `Better: ${row.better.map((one) => `${one.move} (+${one.gain.toFixed(row.exact ? 0 : 1)})`).join(", ")}${row.better[0].line.length > 2 ? ` — ${row.better[0].line.join(" ")}` : ""}` : `Best: ${row.best.join(", ")}`,
      row.exact ? " · exact" : ` · estimated, ${row.depth} deep`));
  fill($("mistakes"),
    here ? make("p", {}, make("b", {}, `${here.ply}. ${here.played}`), ` — ${here.loss < wrong() ? "fine" : `cost ${here.loss.toFixed(1)} ${unit}`}; Black's margin ${signed(here.worth, here.exact ? 0 : 1)} (${here.exact ? "exact" : "estimated"}).`) : null,
    make("h2", {}, worst.length ? "The worst moves" : "No mistakes found"),
    worst.map(entry),
    make("p", { class: "hint" }, `Lost in all: Black ${sum("black").toFixed(0)}, White ${sum("white").toFixed(0)} ${unit}. Choosing a move shows the position before it.`));
}

export function list() {
  const items = state.moves.map((move, place) => {
    const row = state.analysis.get(place + 1);
    const step = state.line.steps[place];
    return make("li", {}, make("button", { type: "button", class: step.side, "aria-current": state.ply === place + 1 ? "true" : null,
      "aria-label": `${place + 1}. ${step.side} ${move}${row && row.loss >= wrong() ? `, cost ${row.loss.toFixed(1)}` : ""}`, onclick: () => goTo(place + 1) },
    move, row && row.loss >= wrong() ? make("span", { class: "cost" }, `−${row.loss.toFixed(0)}`) : null));
  });
  fill($("moves"), items.length ? items : make("li", { class: "hint" }, "None yet."));
  const current = $("moves").querySelector("[aria-current]");
  if (current) $("moves").scrollTop = current.offsetTop - $("moves").offsetTop - 60;
}

const draw = () => { graph(); mistakes(); list(); };

let due = false;
function soon() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; draw(); });
}

export async function analyse() {
  if (busy) { work.stop(); return; }
  if (!state.moves.length) { $("analysis-note").textContent = "There are no moves yet: play, or open a game."; return; }
  const signal = work.begin();
  state.analysis.clear();
  busy = true;
  asked = game();
  $("analyse").textContent = "Stop";
  $("analysis-note").textContent = "Looking…";
  try {
    await stream("/api/analyse", { ...sent(), time: 8 }, signal, (told) => {
      if (signal.aborted || asked !== game()) return;
      if (told.unit) unit = told.unit;
      else if (told.done) $("analysis-note").textContent = `Done in ${told.seconds.toFixed(1)} s: ${told.depth} moves deep, the end solved where it was in reach.`;
      else {
        state.analysis.set(told.ply, told);
        $("analysis-note").textContent = `Looking, ${told.depth} moves deep…`;
        soon();
      }
    });
  } catch (error) {
    $("analysis-note").textContent = !abandoned(error) ? error.message : asked === game() ? "Stopped." : "Stopped: the game is another one now.";
  }
  busy = false;
  $("analyse").textContent = "Analyse this game";
  draw();
}

export function setUp() {
  $("analyse").addEventListener("click", analyse);
  listen((what) => {
    if (what === "begin") {
      work.stop();
      $("analysis-note").textContent = "Every move is judged, deeper and deeper; the end of the game is solved.";
      return;
    }
    // What is still to be said would be about moves that are gone.
    if (busy && asked !== game()) work.stop();
    draw();
  });
}
