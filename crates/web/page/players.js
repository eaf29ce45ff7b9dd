// The players: the lists of opponents, and the bars above and below the board.

import { $, make, fill } from "./dom.js";
import { state, isUserSide } from "./state.js";
import { isFlipped } from "./board.js";
import * as clock from "./clock.js";

let players = null;

export const capitalize = (word) => word[0].toUpperCase() + word.slice(1);
export const other = (side) => (side === "black" ? "white" : "black");
export const areLoaded = () => players !== null;
const piece = () => (state.game === "othello" ? "disc" : "piece");

export function load(list) {
  players = list;
  update();
}

const all = () => [...players[state.game].levels, ...players[state.game].others, ...(state.game === "othello" ? players.runs : [])];
/// Returns the specification of the program that plays a side.
export const playerOf = (side) => (state.side === "none" && side === "black" ? state.blackPlayer : state.opponent);
const find = (player) => players && all().find((level) => level.player === player);
const ratingText = (level) => (level.rating == null ? "" : ` · ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}`);
const describe = (level) => [level.description, level.rating == null ? "Not rated." : `Rating ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)} (95%).`].join(" ");

function fillSelect(select, player) {
  // Numbers of levels are stable names for the same strength.
  const option = (level, index) => make("option", { value: level.player }, `${index === null ? "" : `${index + 1}. `}${level.title}${ratingText(level)}`);
  const group = (name, levels, isNumbered = false) => levels.length ? make("optgroup", { label: name }, levels.map((level, index) => option(level, isNumbered ? index : null))) : null;
  const { levels, others } = players[state.game];
  fill(select, group("Levels", levels, true), group("Trained models", state.game === "othello" ? players.runs : []), group("Other rated players", others));
  select.value = player;
}

/// Fills the lists of opponents.
export function update() {
  const preset = players[state.game].levels.find((level) => level.default).player;
  if (!find(state.opponent)) state.opponent = preset;
  if (!find(state.blackPlayer)) state.blackPlayer = preset;
  fillSelect($("opponent"), state.opponent);
  fillSelect($("black-player"), state.blackPlayer);
  const isWatching = state.side === "none";
  $("black-player-field").hidden = !isWatching;
  $("opponent-label").textContent = isWatching ? "White's player" : "Opponent";
  $("opponent-description").textContent = describe(find(state.opponent));
}

function drawPlayer(node, side, isThinking) {
  const step = state.node.step ?? state.initial;
  const name = state.names[side];
  const level = find(playerOf(side));
  const title = name || (isUserSide(side) ? (state.side === "both" ? capitalize(side) : "You") : level?.title ?? "Opponent");
  const detail = !name && !isUserSide(side) && level?.rating != null ? `${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}` : "";
  const isToMove = !state.position.over && state.position.side === side;
  node.className = `player${isToMove ? " to-move" : ""}${isToMove && isThinking ? " thinking" : ""}`;
  fill(node,
    make("span", { class: `stone ${side}`, "aria-hidden": true }),
    make("span", { class: "player-name" }, title, " ", make("small", {}, [capitalize(side), detail].filter((x) => x && x !== title).join(" · "))),
    clock.isTimed() ? make("span", { class: `time${state.clock.side === side ? " running" : ""}`, role: "timer", "aria-label": `${side}'s clock: ${clock.timeText(side)}` }, clock.timeText(side)) : null,
    make("span", { class: "count", role: "img", "aria-label": `${step[side]} ${piece()}s` }, String(step[side])));
}

/// Draws the bars; the side at the bottom of the board is below it.
export function drawBars(isThinking) {
  if (!state.position) return;
  const own = state.side === "white" ? "white" : "black";
  const bottom = isFlipped() ? other(own) : own;
  drawPlayer($("player-bottom"), bottom, isThinking);
  drawPlayer($("player-top"), other(bottom), isThinking);
}
