// Playing: moves of the user and the opponent, clocks, take back, and the status line.

import { $, make, fill } from "./dom.js";
import { post, abortable, isAbort } from "./api.js";
import { state, play, takeBack, goTo, startGame, gameRequest, isAtEnd, isUserSide, notifyChange, subscribe } from "./state.js";
import { clearSelection } from "./board.js";

const moveRequest = abortable();
const clock = { minutes: 0, seconds: { black: 0, white: 0 }, side: null, since: 0 };
let players = null;
let thinking = false;

export const setStatus = (text) => { $("status").textContent = text; };
const capitalize = (word) => word[0].toUpperCase() + word.slice(1);
const other = (side) => (side === "black" ? "white" : "black");
const piece = () => (state.game === "othello" ? "disc" : "piece");

// Opponents.

export async function loadPlayers(list) {
  players = list;
  updateOpponents();
}

const allOpponents = () => [...players[state.game].levels, ...players[state.game].others, ...players.runs];
export const opponent = () => allOpponents().find((level) => level.player === state.opponent);
const ratingText = (level) => (level.rating == null ? "" : ` · ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}`);

function updateOpponents() {
  const option = (level) => make("option", { value: level.player }, `${level.title}${ratingText(level)}`);
  const group = (name, levels) => levels.length ? make("optgroup", { label: name }, levels.map(option)) : null;
  const { levels, others } = players[state.game];
  if (!allOpponents().some((level) => level.player === state.opponent)) {
    state.opponent = levels.find((level) => level.default).player;
  }
  fill($("opponent"), group("Levels", levels), group("Trained models", state.game === "othello" ? players.runs : []), group("Other rated players", others));
  $("opponent").value = state.opponent;
  const level = opponent();
  $("opponent-description").textContent = [level.description, level.rating == null ? "Not rated." : `Rating ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)} (95%).`].join(" ");
}

// The player bars above and below the board.

function drawPlayer(node, side) {
  const step = state.ply ? state.line.steps[state.ply - 1] : state.line.initial;
  const name = state.names[side];
  const level = players && opponent();
  const title = name || (isUserSide(side) ? (state.side === "both" ? capitalize(side) : "You") : level?.title ?? "Opponent");
  const detail = !name && !isUserSide(side) && level?.rating != null ? `${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}` : "";
  const isToMove = !state.position.over && state.position.side === side;
  node.className = `player${isToMove ? " to-move" : ""}${isToMove && thinking ? " thinking" : ""}`;
  fill(node,
    make("span", { class: `stone ${side}`, "aria-hidden": true }),
    make("span", { class: "player-name" }, title, " ", make("small", {}, [capitalize(side), detail].filter((x) => x && x !== title).join(" · "))),
    clock.minutes ? make("span", { class: "time", role: "timer", "aria-label": `${side}'s clock: ${timeText(side)}` }, timeText(side)) : null,
    make("span", { class: "count", role: "img", "aria-label": `${step[side]} ${piece()}s` }, String(step[side])));
}

export function drawPlayers() {
  if (!state.position) return;
  const bottom = state.side === "white" ? "white" : "black";
  drawPlayer($("player-bottom"), bottom);
  drawPlayer($("player-top"), other(bottom));
}

// The clock.

const timeText = (side) => {
  const left = Math.max(0, clock.seconds[side] - (clock.side === side ? (performance.now() - clock.since) / 1000 : 0));
  return `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
};

/// Stops the running clock and starts that of `side`, or none.
function switchClock(side) {
  const now = performance.now();
  if (clock.side) clock.seconds[clock.side] -= (now - clock.since) / 1000;
  clock.side = side;
  clock.since = now;
}

function tick() {
  if (!clock.minutes || !clock.side) return;
  const left = clock.seconds[clock.side] - (performance.now() - clock.since) / 1000;
  if (left <= 0) {
    state.timedOut = clock.side;
    switchClock(null);
    moveRequest.stop();
    thinking = false;
    setStatus(`${capitalize(state.timedOut)}'s time is up: ${other(state.timedOut)} wins on time.`);
    notifyChange("timeout");
  }
  drawPlayers();
}

// The status line.

function resultText() {
  const { result, black, white } = state.position;
  const own = state.side;
  if (result === 0) return "A draw.";
  const winner = result > 0 ? "black" : "white";
  const score = state.game === "othello" ? ` ${Math.max(black, white)} to ${Math.min(black, white)}` : "";
  if (own === "both" || state.names.black) return `${capitalize(winner)} wins${score}.`;
  return own === winner ? `You win${score}.` : `You lose${score}. Take back a move or analyze the game.`;
}

const mustCapture = () => state.game === "checkers" && state.position.legal.some((legal) => legal.move.includes("x"));

function statusText() {
  const step = state.ply ? state.line.steps[state.ply - 1] : null;
  const played = step ? `${isUserSide(step.side) && state.side !== "both" ? "You" : capitalize(step.side)} played ${step.move}. ` : "";
  if (state.position.over) return played + resultText();
  const pass = step?.passed ? `${capitalize(other(step.side))} passes. ` : "";
  const turn = state.side === "both" || !isAtEnd() ? `${capitalize(state.position.side)} to move.` : isUserSide(state.position.side) ? (mustCapture() ? "Your move. You must capture." : "Your move.") : "Thinking…";
  return played + pass + turn;
}

// Moves.

export async function move(text) {
  moveRequest.stop();
  clearSelection();
  try { await play(text); } catch (error) { setStatus(error.message); }
}

/// Requests the opponent's move if it is its turn and the last position is shown.
async function opponentMove() {
  const signal = moveRequest.start();
  thinking = false;
  if (!players || state.position.over || !isAtEnd() || isUserSide(state.position.side) || state.timedOut) return drawPlayers();
  thinking = true;
  drawPlayers();
  try {
    const request = { ...gameRequest(), player: state.opponent, seed: state.seed };
    const [found] = await Promise.all([post("/api/move", request, signal), new Promise((done) => setTimeout(done, 350))]);
    if (signal.aborted) return;
    thinking = false;
    await play(found.move);
  } catch (error) {
    if (!isAbort(error)) { thinking = false; setStatus(`${error.message.replace(/\.$/, "")}.`); drawPlayers(); }
  }
}

async function undo() {
  if (!state.moves.length) return;
  moveRequest.stop();
  clearSelection();
  let count = 1;
  // Take back the opponent's replies as well, so that it is the user's turn.
  if (state.side !== "both") {
    const steps = state.line.steps;
    while (count < steps.length && !isUserSide(steps[steps.length - count].side)) count++;
  }
  await takeBack(count);
}

export async function newGame(options = {}) {
  moveRequest.stop();
  clearSelection();
  clock.minutes = Number($("clock").value);
  clock.seconds = { black: 60 * clock.minutes, white: 60 * clock.minutes };
  clock.side = null;
  await startGame(options);
}

function updateNavigation() {
  $("ply").textContent = `${state.ply} / ${state.moves.length}`;
  $("first").disabled = $("back").disabled = state.ply === 0;
  $("last").disabled = $("forward").disabled = isAtEnd();
  $("undo").disabled = !state.moves.length;
}

export function setup() {
  $("undo").addEventListener("click", undo);
  $("first").addEventListener("click", () => goTo(0));
  $("back").addEventListener("click", () => goTo(state.ply - 1));
  $("forward").addEventListener("click", () => goTo(state.ply + 1));
  $("last").addEventListener("click", () => goTo(state.moves.length));
  $("new").addEventListener("click", () => newGame());
  $("clock").addEventListener("change", () => newGame());
  $("game").addEventListener("change", () => newGame({ game: $("game").value }));
  $("opponent").addEventListener("change", () => { state.opponent = $("opponent").value; updateOpponents(); notifyChange("players"); });
  for (const input of document.getElementsByName("side")) {
    input.addEventListener("change", () => { state.side = input.value; state.names = { black: "", white: "" }; notifyChange("players"); });
  }
  subscribe((event) => {
    if (event === "new-game") { $("game").value = state.game; if (players) updateOpponents(); return; }
    for (const input of document.getElementsByName("side")) input.checked = input.value === state.side;
    if (event === "timeout") return;
    if (clock.minutes && event === "position" && state.moves.length && isAtEnd()) switchClock(state.position.over ? null : state.position.side);
    updateNavigation();
    drawPlayers();
    if (!state.timedOut) setStatus(statusText());
    opponentMove();
  });
  setInterval(tick, 250);
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey || $("play").hidden) return;
    if (event.key === "u") undo();
    else if (event.key === "n") newGame();
    else if (event.key === "ArrowLeft" && state.ply > 0) goTo(state.ply - 1);
    else if (event.key === "ArrowRight" && !isAtEnd()) goTo(state.ply + 1);
    else if (event.key === "t") $("show-evaluation").click();
    else if (event.key === "e") $("show-experts").click();
  });
}
