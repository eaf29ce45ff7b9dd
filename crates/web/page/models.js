// What models look at, have learned, and see in a move.

import { make, fill, table, signed } from "./dom.js";
import { get, post } from "./api.js";
import { curves, smallBoard } from "./charts.js";
import { state, sent } from "./state.js";

const figure = (drawing, caption) => make("figure", {}, drawing, make("figcaption", {}, caption));
const digits = (weights) => { const most = Math.max(...weights.map((x) => Math.abs(x ?? 0))); return most >= 10 ? 0 : most >= 1 ? 1 : 2; };

async function chooser(current, onChange, games = ["othello", "checkers"]) {
  const [known, players] = await Promise.all([get("/api/models"), get("/api/players")]);
  const all = [...known.filter((one) => games.includes(one.game)).map((one) => one.name), ...players.runs.map((run) => run.player)];
  const select = make("select", { id: "model", onchange: () => onChange(select.value) }, all.map((name) => make("option", { value: name, selected: name === current }, name)));
  return make("div", { class: "field", style: "max-width:320px" }, make("label", { for: "model" }, "Model"), select);
}

export async function showModel(place, name = "champion") {
  fill(place, make("p", { class: "hint" }, "Measuring the model on positions of the embedded games…"));
  const [select, told] = await Promise.all([
    chooser(name, (next) => { location.hash = `#lab/models/${encodeURIComponent(next)}`; }),
    get(`/api/model?name=${encodeURIComponent(name)}`)]);
  const single = told.tuples.length > 0 && told.tuples.every((one) => one.squares.length === 1);
  const heat = (title, weights, caption) => (weights ? figure(smallBoard({ title, weights, digits: digits(weights) }), caption) : null);
  fill(place,
    make("div", { class: "card" }, make("h1", {}, name), select,
      make("p", {}, `A model of the kind “${told.kind}” with ${told.weights.toLocaleString("en")} weights${told.places ? `; it reads a board in ${told.places.toLocaleString("en")} places` : ""}.`)),
    told.worth || told.moves ? make("div", { class: "card" }, make("h2", {}, "What it has learned"), make("div", { class: "pair" },
      heat("What a disc is worth", told.worth, "What an own disc instead of the opponent's changes in the worth of a board, on average."),
      heat("Where it moves", told.moves, "How many times in a hundred it moves there when it can, less what chance would give.")),
    told.regions ? table(["Kind of square", ">Worth"], told.regions.filter((one) => one.worth != null).map((one) => [one.name, signed(one.worth, 3)])) : null) : null,
    told.counts.length ? make("div", { class: "card" }, make("h2", {}, "What it counts"), make("div", { class: "pair" },
      told.counts.map((count) => make("div", {}, make("h3", {}, count.name), curves(count.series.filter((one) => one.points.length), { title: count.name, x: "how many", width: 340, height: 200 }))))) : null,
    told.patterns.length && !single ? make("div", { class: "card" }, make("h2", {}, "The patterns that weigh most"), make("div", { class: "gallery" },
      told.patterns.map((one) => figure(smallBoard({ title: `Pattern of tuple ${one.tuple + 1}`, tuple: one.squares, own: one.own, other: one.other }), `${signed(one.weight, 2)} · ${one.often.toFixed(2)} a board`)))) : null,
    make("div", { class: "card" }, make("h2", {}, "What it looks at"), told.features.length ? table(["Own less the opponent's", ">Weight"], told.features.map((one) => [one.name, signed(one.weight, 3)])) : !told.tuples.length ? make("p", {}, "The whole board at once.") : single ? make("p", {}, `The squares one by one, ${told.tuple_count} of them: whose disc is there.`) : make("div", { class: "gallery" },
      told.tuples.map((one, i) => figure(smallBoard({ title: `Tuple ${i + 1}`, tuple: one.squares }), `${i + 1}: ${one.squares.length} squares, ${one.images} images, ${one.entries.toLocaleString("en")} weights`))),
    told.tuple_count > told.tuples.length ? make("p", { class: "hint" }, `The first ${told.tuples.length} of ${told.tuple_count} tuples.`) : null));
}

/// Why a model likes a move in the position on the board of the other room.
export async function showWhy(place, model = "champion", wished = null) {
  if (state.game !== "othello" || !state.here || state.here.over) {
    return fill(place, make("div", { class: "card" }, make("h1", {}, "Why this move"), make("p", {}, "Set up a position of Othello on the board in which somebody can move, then come back.")));
  }
  const legal = state.here.legal.map((one) => one.move);
  const mv = legal.includes(wished) ? wished : state.moves[state.ply] ?? legal[0];
  const [select, told] = await Promise.all([chooser(model, (next) => showWhy(place, next, mv), ["othello"]),
    post("/api/why", { ...sent(state.ply), model, move: mv })]);
  const moves = make("select", { id: "why-move", onchange: () => showWhy(place, model, moves.value) }, legal.map((one) => make("option", { value: one, selected: one === mv }, one)));
  const most = Math.max(...told.parts.map((part) => Math.abs(part.difference)), 1e-9);
  const bar = (part) => make("span", { class: "bar", style: `width:${(100 * Math.abs(part.difference)) / most}%;background:var(--${part.difference >= 0 ? "more" : "less"})` });
  const cell = state.here.legal.find((one) => one.move === mv).path[0];
  const tuples = told.parts.filter((part) => part.squares.length);
  fill(place,
    make("div", { class: "card" }, make("h1", {}, "Why this move"), make("div", { class: "pair" },
      make("div", { style: "max-width:320px" }, smallBoard({ title: "The position on the board", cells: state.here.cells, marks: [cell] })),
      make("div", {}, select, make("div", { class: "field", style: "max-width:320px" }, make("label", { for: "why-move" }, `Move of ${state.here.side}`), moves),
        make("p", {}, `${model} gives ${mv} ${signed(told.total, 2)}`, told.rival ? ` and its best rival, ${told.rival}, ${signed(told.rival_total, 2)}.` : "; there is no other move."),
        make("p", { class: "hint" }, "The worth of a move is the sum of what the model sees after it. Below, what differs between the two, the largest first: blue speaks for the move, orange against it.")))),
    make("div", { class: "card" }, make("h2", {}, "Parts by tuple"),
      table(["Part", ">Difference", "", `>${mv}`, `>${told.rival ?? ""}`], told.parts.slice(0, 24).map((part) => [part.name, signed(part.difference, 3), bar(part), signed(part.weight, 3), part.rival == null ? "" : signed(part.rival, 3)])),
      make("div", { class: "gallery", style: "margin-top:20px" }, tuples.slice(0, 12).map((part) => figure(smallBoard({ title: part.name, cells: state.here.cells, tuple: part.squares }), `${part.name}: ${signed(part.difference, 3)}`)))));
}
