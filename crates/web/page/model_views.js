// Views of models: features, learned values, and explanations of moves.

import { make, fill, table, signed } from "./dom.js";
import { get, post } from "./api.js";
import { lineChart, boardDiagram } from "./charts.js";
import { state, gameRequest } from "./state.js";

const figure = (drawing, caption) => make("figure", {}, drawing, make("figcaption", {}, caption));
const digits = (weights) => { const maxWeight = Math.max(...weights.map((x) => Math.abs(x ?? 0))); return maxWeight >= 10 ? 0 : maxWeight >= 1 ? 1 : 2; };

async function modelSelect(current, onChange, games = ["othello", "checkers"]) {
  const [embedded, players] = await Promise.all([get("/api/models"), get("/api/players")]);
  const all = [...embedded.filter((one) => games.includes(one.game)).map((one) => one.name), ...players.runs.map((run) => run.player)];
  const select = make("select", { id: "model", onchange: () => onChange(select.value) }, all.map((name) => make("option", { value: name, selected: name === current }, name)));
  return make("div", { class: "field", style: "max-width:320px" }, make("label", { for: "model" }, "Model"), select);
}

export async function showModel(view, name = "champion") {
  fill(view, make("p", { class: "hint" }, "Evaluating the model on positions of the embedded games…"));
  const [select, info] = await Promise.all([
    modelSelect(name, (next) => { location.hash = `#lab/models/${encodeURIComponent(next)}`; }),
    get(`/api/model?name=${encodeURIComponent(name)}`)]);
  const isSquaresOnly = info.tuples.length > 0 && info.tuples.every((one) => one.squares.length === 1);
  const heatMap = (title, weights, caption) => (weights ? figure(boardDiagram({ title, weights, digits: digits(weights) }), caption) : null);
  fill(view,
    make("div", { class: "card" }, make("h1", {}, name), select,
      make("p", {}, `Type: ${info.kind}. ${info.weights.toLocaleString("en")} weights${info.instances ? `, ${info.instances.toLocaleString("en")} tuple instances` : ""}.`)),
    info.disc_values || info.move_preferences ? make("div", { class: "card" }, make("h2", {}, "Learned values"), make("div", { class: "pair" },
      heatMap("Value of a disc", info.disc_values, "Mean change of the value if a disc is own instead of the opponent's."),
      heatMap("Move preference", info.move_preferences, "How often it plays the square when legal, minus how often a random player does, in percentage points.")),
    info.regions ? table(["Region", ">Value"], info.regions.filter((one) => one.value != null).map((one) => [one.name, signed(one.value, 3)])) : null) : null,
    info.counts.length ? make("div", { class: "card" }, make("h2", {}, "Count features"), make("div", { class: "pair" },
      info.counts.map((count) => make("div", {}, make("h3", {}, count.name), lineChart(count.series.filter((one) => one.points.length), { title: count.name, x: "count", width: 340, height: 200 }))))) : null,
    info.patterns.length && !isSquaresOnly ? make("div", { class: "card" }, make("h2", {}, "Patterns with the largest weights"), make("div", { class: "gallery" },
      info.patterns.map((one) => figure(boardDiagram({ title: `Pattern of tuple ${one.tuple + 1}`, tuple: one.squares, own: one.own, other: one.other }), `${signed(one.weight, 2)} · ${one.frequency.toFixed(2)} per board`)))) : null,
    make("div", { class: "card" }, make("h2", {}, "Features"), info.features.length ? table(["Feature (own minus opponent)", ">Weight"], info.features.map((one) => [one.name, signed(one.weight, 3)])) : !info.tuples.length ? make("p", {}, "The network reads the whole board.") : isSquaresOnly ? make("p", {}, `${info.tuple_count} single squares.`) : make("div", { class: "gallery" },
      info.tuples.map((one, i) => figure(boardDiagram({ title: `Tuple ${i + 1}`, tuple: one.squares }), `${i + 1}: ${one.squares.length} squares, ${one.symmetries} symmetries, ${one.entries.toLocaleString("en")} weights`))),
    info.tuple_count > info.tuples.length ? make("p", { class: "hint" }, `${info.tuples.length} of ${info.tuple_count} tuples are shown.`) : null));
}

/// Explains a model's value of a move in the position on the board.
export async function showExplanation(view, model = "champion", selectedMove = null) {
  if (state.game !== "othello" || !state.position || state.position.over) {
    return fill(view, make("div", { class: "card" }, make("h1", {}, "Explain a move"), make("p", {}, "Set up an Othello position with legal moves on the board first.")));
  }
  const legal = state.position.legal.map((one) => one.move);
  const mv = legal.includes(selectedMove) ? selectedMove : state.moves[state.ply] ?? legal[0];
  const [select, info] = await Promise.all([modelSelect(model, (next) => showExplanation(view, next, mv), ["othello"]),
    post("/api/explain", { ...gameRequest(state.ply), model, move: mv })]);
  const moves = make("select", { id: "explain-move", onchange: () => showExplanation(view, model, moves.value) }, legal.map((one) => make("option", { value: one, selected: one === mv }, one)));
  const largest = Math.max(...info.contributions.map((one) => Math.abs(one.difference)), 1e-9);
  const bar = (one) => make("span", { class: "bar", style: `width:${(100 * Math.abs(one.difference)) / largest}%;background:var(--${one.difference >= 0 ? "more" : "less"})` });
  const cell = state.position.legal.find((one) => one.move === mv).path[0];
  const tuples = info.contributions.filter((one) => one.squares.length);
  fill(view,
    make("div", { class: "card" }, make("h1", {}, "Explain a move"), make("div", { class: "pair" },
      make("div", { style: "max-width:320px" }, boardDiagram({ title: "Position on the board", cells: state.position.cells, marks: [cell] })),
      make("div", {}, select, make("div", { class: "field", style: "max-width:320px" }, make("label", { for: "explain-move" }, `Move for ${state.position.side}`), moves),
        make("p", {}, `Value of ${mv} by ${model}: ${signed(info.total, 2)}`, info.alternative ? `. Best alternative: ${info.alternative}, ${signed(info.alternative_total, 2)}.` : ". There is no other legal move."),
        make("p", { class: "hint" }, "The value of a move is the sum of the contributions below. They are sorted by their difference between the two moves: blue favors the move, orange the alternative.")))),
    make("div", { class: "card" }, make("h2", {}, "Contributions"),
      table(["Feature", ">Difference", "", `>${mv}`, `>${info.alternative ?? ""}`], info.contributions.slice(0, 24).map((one) => [one.name, signed(one.difference, 3), bar(one), signed(one.weight, 3), one.alternative == null ? "" : signed(one.alternative, 3)])),
      make("div", { class: "gallery", style: "margin-top:20px" }, tuples.slice(0, 12).map((one) => figure(boardDiagram({ title: one.name, cells: state.position.cells, tuple: one.squares }), `${one.name}: ${signed(one.difference, 3)}`)))));
}
