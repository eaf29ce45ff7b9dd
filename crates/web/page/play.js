// Playing: moves of the user and of programs, take back, undo, and the status line.

import { $, make, fill } from "./dom.js";
import { post, abortable, isAbort } from "./api.js";
import { state, play, takeBack, goTo, startGame, gameRequest, isAtEnd, isUserSide, notifyChange, subscribe, undo, redo, canUndo, canRedo, saveGame } from "./state.js";
import { clearSelection } from "./board.js";
import { notice } from "./notice.js";
import * as clock from "./clock.js";
import * as players from "./players.js";

const { capitalize, other } = players;
const moveRequest = abortable();
let thinking = false;

export function setStatus(text, ...actions) {
  fill($("status"), make("span", {}, text), actions.map(([label, run]) => make("button", { type: "button", onclick: run }, label)));
}

// The status line.

function resultText() {
  const { result, black, white } = state.position;
  const own = state.side;
  if (result === 0) return "A draw.";
  const winner = result > 0 ? "black" : "white";
  const score = state.game === "othello" ? ` ${Math.max(black, white)} to ${Math.min(black, white)}` : "";
  if (own === "both" || own === "none" || state.names.black) return `${capitalize(winner)} wins${score}.`;
  return own === winner ? `You win${score}.` : `You lose${score}. Take back a move or analyze the game.`;
}

const mustCapture = () => state.game === "checkers" && state.position.legal.some((legal) => legal.move.includes("x"));

function statusText() {
  const { step } = state.node;
  const played = step ? `${isUserSide(step.side) && state.side !== "both" ? "You" : capitalize(step.side)} played ${step.move}. ` : "";
  if (state.position.over) return played + resultText();
  const pass = step?.passed ? `${capitalize(other(step.side))} passes. ` : "";
  const side = capitalize(state.position.side);
  if (!isAtEnd()) return `${played}${pass}${side} to move. Move ${state.ply} of ${state.path.length}; another move starts a variation.`;
  if (state.side === "both") return `${played}${pass}${side} to move.`;
  if (isUserSide(state.position.side)) return `${played}${pass}${mustCapture() ? "Your move. You must capture." : "Your move."}`;
  return `${played}${pass}Thinking…`;
}

// Moves.

export async function move(text) {
  moveRequest.stop();
  clearSelection();
  try { await play(text); } catch (error) { setStatus(error.message, ["Try again", () => move(text)]); }
}

const drawBars = () => players.drawBars(thinking);

/// Requests a program's move if it is its turn and the last position is shown.
async function reply() {
  const signal = moveRequest.start();
  thinking = false;
  if (!players.areLoaded() || state.position.over || !isAtEnd() || isUserSide(state.position.side) || state.timedOut || state.editor) return drawBars();
  thinking = true;
  drawBars();
  try {
    const player = players.playerOf(state.position.side);
    const [found] = await Promise.all([post("/api/move", { ...gameRequest(), player, seed: state.seed }, signal), new Promise((done) => setTimeout(done, 350))]);
    if (signal.aborted) return;
    thinking = false;
    await play(found.move, { isReply: true });
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    thinking = false;
    setStatus(`The opponent did not move: ${error.message}`, ["Try again", () => notifyChange("players")]);
    drawBars();
  }
}

async function takeBackMove() {
  if (!isAtEnd()) return setStatus("Take back removes the last move. Go to the last position first (» or End); to try another move here, play it.");
  if (!state.path.length) return;
  moveRequest.stop();
  clearSelection();
  let count = 1;
  // Take back the opponent's replies as well, so that it is the user's turn.
  if (state.side === "black" || state.side === "white") {
    const { steps } = state;
    while (count < steps.length && !isUserSide(steps[steps.length - count].side)) count++;
  }
  await takeBack(count);
}

/// Starts a new game or loads one. The previous game can be restored.
export async function newGame(options = {}) {
  moveRequest.stop();
  clearSelection();
  const hadMoves = state.root.children.length > 0;
  const clockText = options.record ? null : $("clock").value;
  try {
    if (clockText !== null && !options.moves && !options.start) {
      await startGame({ ...options, onLoaded: () => clock.reset(clockText) });
    } else await startGame({ ...options, onLoaded: options.record ? null : () => clock.reset("0") });
  } catch (error) { setStatus(error.message); throw error; }
  if (hadMoves) notice("The previous game is kept.", [["Undo", undo]]);
}

function changeClock() {
  const isStarted = state.path.some((node) => isUserSide(node.step.side));
  if (!isStarted) { newGame(); return; }
  notice("The clock applies to the next game.", [["New game now", () => newGame()]]);
}

function updateNavigation() {
  $("ply").textContent = `${state.ply} / ${state.path.length}`;
  $("first").disabled = $("back").disabled = state.ply === 0;
  $("last").disabled = $("forward").disabled = isAtEnd();
  $("take-back").disabled = !state.path.length || !isAtEnd();
  $("undo").disabled = !canUndo();
  $("redo").disabled = !canRedo();
}

function updateClock(event) {
  if (!clock.isTimed() || event !== "position" || !state.path.length || !isAtEnd()) return;
  const isRunning = !state.position.over && !state.timedOut;
  clock.switchTo(isRunning ? state.position.side : null);
}

let lastSave = 0;
function tick() {
  if (!clock.isTimed() || !state.clock.side) return;
  const side = clock.expired();
  if (side) {
    state.timedOut = side;
    clock.switchTo(null);
    moveRequest.stop();
    thinking = false;
    notifyChange("timeout");
  } else if (performance.now() - lastSave > 2000) { // a reload keeps the clocks
    lastSave = performance.now();
    saveGame();
  }
  drawBars();
}

export const stopReply = () => { moveRequest.stop(); thinking = false; drawBars(); };

export function setup() {
  $("take-back").addEventListener("click", takeBackMove);
  $("undo").addEventListener("click", () => undo());
  $("redo").addEventListener("click", () => redo());
  $("first").addEventListener("click", () => goTo(0));
  $("back").addEventListener("click", () => goTo(state.ply - 1));
  $("forward").addEventListener("click", () => goTo(state.ply + 1));
  $("last").addEventListener("click", () => goTo(state.path.length));
  $("new").addEventListener("click", () => newGame());
  $("clock").addEventListener("change", changeClock);
  $("game").addEventListener("change", () => newGame({ game: $("game").value }));
  $("opponent").addEventListener("change", () => { state.opponent = $("opponent").value; players.update(); notifyChange("players"); });
  $("black-player").addEventListener("change", () => { state.blackPlayer = $("black-player").value; players.update(); notifyChange("players"); });
  for (const input of document.getElementsByName("side")) {
    input.addEventListener("change", () => { state.side = input.value; state.names = { black: "", white: "" }; players.update(); notifyChange("players"); });
  }
  subscribe((event) => {
    if (event === "new-game") {
      $("game").value = state.game;
      const setting = clock.setting();
      $("clock").value = [...$("clock").options].some((option) => option.value === setting) ? setting : "0";
      if (players.areLoaded()) players.update();
      return;
    }
    if (event === "analysis" || event === "view") return drawBars();
    for (const input of document.getElementsByName("side")) input.checked = input.value === state.side;
    updateClock(event);
    updateNavigation();
    drawBars();
    if (state.timedOut && isAtEnd()) setStatus(`${capitalize(state.timedOut)}'s time is up: ${other(state.timedOut)} wins on time.`);
    else setStatus(statusText());
    if (event !== "timeout") reply();
  });
  setInterval(tick, 100);
  addEventListener("pagehide", saveGame);
}
