// What was played here: the opening's name, counts and results from the game base.

import { $, make, fill, plural } from "./dom.js";
import { get, post, latest, abandoned } from "./api.js";
import { state, sent, listen, changed } from "./state.js";
import { move, newGame } from "./play.js";

const work = latest();
let again = null;

const share = (one) => {
  const part = (name, count) => make("i", { class: name, style: `width:${(100 * count) / one.count}%` });
  const text = `Black won ${one.black}, drawn ${one.draws}, White won ${one.white}`;
  return make("span", { class: "share", role: "img", "aria-label": text, title: text }, part("b", one.black), part("d", one.draws), part("w", one.white));
};

function show(told) {
  const opening = told.opening;
  fill($("opening"),
    make("p", { class: "name" }, opening ? opening.name : state.ply ? "No named opening" : "The start"),
    make("p", { class: "hint" }, opening && opening.plies < state.ply ? `Left after move ${opening.plies}. ` : "", told.count ? `${plural(told.count, "game")} came here, of ${told.source}.` : `No game came here, of ${told.source}.`));
  if (!told.count) {
    return fill($("book"), told.beyond ? make("p", { class: "hint" }, "The base is indexed for the first 40 moves.") : null);
  }
  const row = (one) => make("tr", {},
    make("td", {}, make("button", { type: "button", class: "link", onclick: () => move(one.moves[0]), title: "Play this move" }, one.moves.join(" "))),
    make("td", { class: "r" }, one.count.toLocaleString("en")),
    make("td", { class: "r" }, `${((100 * one.count) / told.count).toFixed(0)}%`),
    make("td", {}, share(one)),
    make("td", { class: "hint" }, one.opening ?? ""));
  const head = (text, kind) => make("th", { scope: "col", class: kind }, text);
  fill($("book"),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, head("Move"), head("Games", "r"), head("Share", "r"), head("Black · draw · White"), head("Leads to"))), make("tbody", {}, told.moves.map(row)))),
    told.examples.length ? make("details", {}, make("summary", {}, "Games"), make("ul", { class: "hint" }, told.examples.map((game) => make("li", {}, `${game.year || ""} ${game.title} (${game.result > 0 ? "+" : ""}${game.result})`)))) : null);
}

async function look() {
  const signal = work.begin();
  clearTimeout(again);
  if ($("panel-book").hidden) return;
  if (state.game !== "othello") {
    fill($("opening"), make("p", { class: "hint" }, "The game base is of Othello."));
    return fill($("book"));
  }
  try {
    const told = await post("/api/book", sent(state.ply), signal);
    if (signal.aborted) return;
    if (told.reading) {
      fill($("opening"), make("p", { class: "hint" }, "The game base is being read…"));
      again = setTimeout(look, 500);
    } else show(told);
  } catch (error) { if (!abandoned(error)) fill($("book"), make("p", { class: "error" }, error.message)); }
}

export async function setUp() {
  listen((what) => { if (what !== "begin") look(); });
  $("tab-book").addEventListener("click", () => setTimeout(look));
  const openings = await get("/api/openings");
  fill($("openings"), make("option", { value: "" }, `Choose one of ${openings.length}…`), openings.map((one) => make("option", { value: one.moves }, one.name)));
  $("openings").addEventListener("change", async () => {
    if (!$("openings").value) return;
    state.side = "both";
    await newGame({ game: "othello", moves: $("openings").value });
    changed("players");
  });
}
