// The opening explorer: opening name, moves played and results.

import { $, make, fill, plural } from "./dom.js";
import { get, post, abortable, isAbort } from "./api.js";
import { state, gameRequest, subscribe, notifyChange } from "./state.js";
import { move, newGame } from "./play.js";

const request = abortable();
let retryTimer = null;

const resultBar = (one) => {
  const part = (name, count) => make("i", { class: name, style: `width:${(100 * count) / one.count}%` });
  const text = `Black won ${one.black}, draws ${one.draws}, White won ${one.white}`;
  return make("span", { class: "result-bar", role: "img", "aria-label": text, title: text }, part("b", one.black), part("d", one.draws), part("w", one.white));
};

function show(found) {
  const opening = found.opening;
  fill($("opening"),
    make("p", { class: "name" }, opening ? opening.name : state.ply ? "Unnamed opening" : "Starting position"),
    make("p", { class: "hint" }, opening && opening.plies < state.ply ? `Up to move ${opening.plies}. ` : "", found.count ? `${plural(found.count, "game")} with this position, of ${found.source}.` : `No game with this position, of ${found.source}.`));
  if (!found.count) {
    return fill($("explorer"), found.beyond_index ? make("p", { class: "hint" }, "Only the first 40 moves of each game are indexed.") : null);
  }
  const row = (one) => make("tr", {},
    make("td", {}, make("button", { type: "button", class: "link", onclick: () => move(one.moves[0]), title: "Play this move" }, one.moves.join(" "))),
    make("td", { class: "r" }, one.count.toLocaleString("en")),
    make("td", { class: "r" }, `${((100 * one.count) / found.count).toFixed(0)}%`),
    make("td", {}, resultBar(one)),
    make("td", { class: "hint" }, one.opening ?? ""));
  const head = (text, kind) => make("th", { scope: "col", class: kind }, text);
  fill($("explorer"),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, head("Move"), head("Games", "r"), head("Share", "r"), head("Black · draw · White"), head("Opening"))), make("tbody", {}, found.moves.map(row)))),
    found.examples.length ? make("details", {}, make("summary", {}, "Games"), make("ul", { class: "hint" }, found.examples.map((game) => make("li", {}, `${game.year || ""} ${game.title} (${game.result > 0 ? "+" : ""}${game.result})`)))) : null);
}

async function lookUp() {
  const signal = request.start();
  clearTimeout(retryTimer);
  if ($("panel-openings").hidden) return;
  if (state.game !== "othello") {
    fill($("opening"), make("p", { class: "hint" }, "The opening explorer is available for Othello only."));
    return fill($("explorer"));
  }
  try {
    const found = await post("/api/explorer", gameRequest(state.ply), signal);
    if (signal.aborted) return;
    if (found.loading) {
      fill($("opening"), make("p", { class: "hint" }, "Loading games…"));
      retryTimer = setTimeout(lookUp, 500);
    } else show(found);
  } catch (error) { if (!isAbort(error)) fill($("explorer"), make("p", { class: "error" }, error.message)); }
}

/// Shows the name of the opening beside the board.
function showName() {
  const { step } = state.node;
  $("opening-name").textContent = step?.opening ?? "";
}

export async function setup() {
  subscribe((event) => { if (event === "position") { showName(); lookUp(); } });
  $("tab-openings").addEventListener("click", () => setTimeout(lookUp));
  const openings = await get("/api/openings");
  fill($("openings"), make("option", { value: "" }, `Choose one of ${openings.length}…`), openings.map((one) => make("option", { value: one.moves }, one.name)));
  $("openings").addEventListener("change", async () => {
    if (!$("openings").value) return;
    state.side = "both";
    await newGame({ game: "othello", moves: $("openings").value });
    notifyChange("players");
  });
}
