// Playing: the person's moves, the opponent's, the clock, taking back, and saying what happened.

import { $, make, fill } from "./dom.js";
import { post, latest, abandoned } from "./api.js";
import { state, play, takeBack, goTo, begin, sent, atEnd, isMine, changed, listen } from "./state.js";
import { forgetPath } from "./board.js";

const answer = latest();
const clock = { minutes: 0, left: { black: 0, white: 0 }, side: null, since: 0 };
let players = null;
let thinking = false;

export const say = (text) => { $("status").textContent = text; };
const capital = (word) => word[0].toUpperCase() + word.slice(1);
const other = (side) => (side === "black" ? "white" : "black");
const piece = () => (state.game === "othello" ? "disc" : "piece");

// Opponents.

export async function loadPlayers(list) {
  players = list;
  choices();
}

const known = () => [...players[state.game].levels, ...players[state.game].others, ...players.runs];
export const opponent = () => known().find((level) => level.player === state.opponent);
const strength = (level) => (level.rating == null ? "" : ` · ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}`);

function choices() {
  const option = (level) => make("option", { value: level.player }, `${level.title}${strength(level)}`);
  const group = (name, levels) => levels.length ? make("optgroup", { label: name }, levels.map(option)) : null;
  const { levels, others } = players[state.game];
  if (!known().some((level) => level.player === state.opponent)) {
    state.opponent = levels.find((level) => level.first).player;
  }
  fill($("opponent"), group("From gentle to strong", levels), group("Runs of yours", state.game === "othello" ? players.runs : []), group("Others that were rated", others));
  $("opponent").value = state.opponent;
  const level = opponent();
  $("opponent-about").textContent = [level.description, level.rating == null ? "Not rated." : `Rating ${level.rating.toFixed(0)} ± ${level.error.toFixed(0)} (95%).`].join(" ");
}

// The seats above and below the board.

function seat(node, side) {
  const step = state.ply ? state.line.steps[state.ply - 1] : state.line.first;
  const named = state.names[side];
  const level = players && opponent();
  const who = named || (isMine(side) ? (state.side === "both" ? capital(side) : "You") : level?.title ?? "Opponent");
  const detail = !named && !isMine(side) && level?.rating != null ? `${level.rating.toFixed(0)} ± ${level.error.toFixed(0)}` : "";
  const moves = !state.here.over && state.here.side === side;
  node.className = `seat${moves ? " moving" : ""}${moves && thinking ? " thinking" : ""}`;
  fill(node,
    make("span", { class: `stone ${side}`, "aria-hidden": true }),
    make("span", { class: "who" }, who, " ", make("small", {}, [capital(side), detail].filter((x) => x && x !== who).join(" · "))),
    clock.minutes ? make("span", { class: "time", role: "timer", "aria-label": `${side}'s clock: ${timeText(side)}` }, timeText(side)) : null,
    make("span", { class: "count", role: "img", "aria-label": `${step[side]} ${piece()}s` }, String(step[side])));
}

export function seats() {
  if (!state.here) return;
  const below = state.side === "white" ? "white" : "black";
  seat($("seat-bottom"), below);
  seat($("seat-top"), other(below));
}

// The clock.

const timeText = (side) => {
  const left = Math.max(0, clock.left[side] - (clock.side === side ? (performance.now() - clock.since) / 1000 : 0));
  return `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
};

function press(side) {
  const now = performance.now();
  if (clock.side) clock.left[clock.side] -= (now - clock.since) / 1000;
  clock.side = side;
  clock.since = now;
}

function tick() {
  if (!clock.minutes || !clock.side) return;
  const left = clock.left[clock.side] - (performance.now() - clock.since) / 1000;
  if (left <= 0) {
    state.flagged = clock.side;
    press(null);
    answer.stop();
    thinking = false;
    say(`${capital(state.flagged)}'s time is over: ${other(state.flagged)} wins on time.`);
    changed("flag");
  }
  seats();
}

// What happened, in a sentence.

function outcome() {
  const { result, black, white } = state.here;
  const mine = state.side;
  if (result === 0) return "A draw.";
  const winner = result > 0 ? "black" : "white";
  const score = state.game === "othello" ? ` ${Math.max(black, white)} to ${Math.min(black, white)}` : "";
  if (mine === "both" || state.names.black) return `${capital(winner)} wins${score}.`;
  return mine === winner ? `You win${score}. Well played.` : `You lose${score}. Take back, or analyse the game.`;
}

const mustCapture = () => state.game === "checkers" && state.here.legal.some((legal) => legal.move.includes("x"));

function told() {
  const step = state.ply ? state.line.steps[state.ply - 1] : null;
  const played = step ? `${isMine(step.side) && state.side !== "both" ? "You" : capital(step.side)} played ${step.move}. ` : "";
  if (state.here.over) return played + outcome();
  const pass = step?.passed ? `${capital(other(step.side))} must pass. ` : "";
  const turn = state.side === "both" || !atEnd() ? `${capital(state.here.side)} to move.` : isMine(state.here.side) ? (mustCapture() ? "Your move: you must capture." : "Your move.") : "Thinking…";
  return played + pass + turn;
}

// Moves.

export async function move(text) {
  answer.stop();
  forgetPath();
  try { await play(text); } catch (error) { say(error.message); }
}

/// Lets the opponent move when it is their turn at the end of the game.
async function reply() {
  const signal = answer.begin();
  thinking = false;
  if (!players || state.here.over || !atEnd() || isMine(state.here.side) || state.flagged) return seats();
  thinking = true;
  seats();
  try {
    const asked = { ...sent(), player: state.opponent, seed: state.seed };
    const [found] = await Promise.all([post("/api/move", asked, signal), new Promise((done) => setTimeout(done, 350))]);
    if (signal.aborted) return;
    thinking = false;
    await play(found.move);
  } catch (error) {
    if (!abandoned(error)) { thinking = false; say(`${error.message}.`); seats(); }
  }
}

async function undo() {
  if (!state.moves.length) return;
  answer.stop();
  forgetPath();
  let count = 1;
  // Back to where the person is to move, the opponent's replies included.
  if (state.side !== "both") {
    const steps = state.line.steps;
    while (count < steps.length && !isMine(steps[steps.length - count].side)) count++;
  }
  await takeBack(count);
}

export async function newGame(options = {}) {
  answer.stop();
  forgetPath();
  clock.minutes = Number($("clock").value);
  clock.left = { black: 60 * clock.minutes, white: 60 * clock.minutes };
  clock.side = null;
  await begin(options);
}

function strip() {
  $("where").textContent = `${state.ply} / ${state.moves.length}`;
  $("first").disabled = $("back").disabled = state.ply === 0;
  $("last").disabled = $("forward").disabled = atEnd();
  $("undo").disabled = !state.moves.length;
}

export function setUp() {
  $("undo").addEventListener("click", undo);
  $("first").addEventListener("click", () => goTo(0));
  $("back").addEventListener("click", () => goTo(state.ply - 1));
  $("forward").addEventListener("click", () => goTo(state.ply + 1));
  $("last").addEventListener("click", () => goTo(state.moves.length));
  $("new").addEventListener("click", () => newGame());
  $("clock").addEventListener("change", () => newGame());
  $("game").addEventListener("change", () => newGame({ game: $("game").value }));
  $("opponent").addEventListener("change", () => { state.opponent = $("opponent").value; choices(); changed("players"); });
  for (const input of document.getElementsByName("side")) {
    input.addEventListener("change", () => { state.side = input.value; state.names = { black: "", white: "" }; changed("players"); });
  }
  listen((what) => {
    if (what === "begin") { $("game").value = state.game; if (players) choices(); return; }
    for (const input of document.getElementsByName("side")) input.checked = input.value === state.side;
    if (what === "flag") return;
    if (clock.minutes && what === "position" && state.moves.length && atEnd()) press(state.here.over ? null : state.here.side);
    strip();
    seats();
    if (!state.flagged) say(told());
    reply();
  });
  setInterval(tick, 250);
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey || $("play").hidden) return;
    if (event.key === "u") undo();
    else if (event.key === "n") newGame();
    else if (event.key === "ArrowLeft" && state.ply > 0) goTo(state.ply - 1);
    else if (event.key === "ArrowRight" && !atEnd()) goTo(state.ply + 1);
    else if (event.key === "t") $("show-search").click();
    else if (event.key === "e") $("show-experts").click();
  });
}
