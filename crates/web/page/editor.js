// The position editor: set up a position on the board, then play or analyze from it.

import { $ } from "./dom.js";
import { post } from "./api.js";
import { state, notifyChange } from "./state.js";
import * as board from "./board.js";
import { newGame, stopReply } from "./play.js";

const START = "---------------------------OX------XO---------------------------";
const CYCLE = { "-": "X", X: "O", O: "-" };

function set(cells, side = state.editor.side) {
  state.editor = { cells, side, legal: [], over: false };
  for (const input of document.getElementsByName("editor-side")) input.checked = input.value === side;
  board.draw();
  const count = (what) => [...cells].filter((cell) => cell === what).length;
  $("editor-count").textContent = `Black ${count("X")}, White ${count("O")}, empty ${count("-")}.`;
}

function edit(cell) {
  const tool = document.querySelector("[name=editor-tool]:checked").value;
  const { cells } = state.editor;
  const next = tool === "cycle" ? CYCLE[cells[cell]] : tool;
  set(cells.slice(0, cell) + next + cells.slice(cell + 1));
}

function close() {
  state.editor = null;
  $("editor").hidden = true;
  $("edit").focus();
  notifyChange("position");
}

function open() {
  if (state.game !== "othello") { $("editor-error").textContent = ""; $("hint-note").textContent = "The position editor is available for Othello only."; return; }
  stopReply();
  $("editor").hidden = false;
  $("editor-error").textContent = "";
  state.editor = { cells: state.position.cells, side: state.position.side, legal: [], over: false };
  set(state.position.cells, state.position.side);
  $("editor").querySelector("input").focus();
}

async function use() {
  const { cells, side } = state.editor;
  const kept = state.editor;
  const you = state.side;
  try {
    const start = `${cells} ${side === "black" ? "X" : "O"}`;
    const { current } = await post("/api/position", { game: "othello", start, moves: "" });
    if (current.over) throw new Error("Neither side has a legal move in this position.");
    state.side = "both";
    await newGame({ game: "othello", start });
    close();
  } catch (error) {
    state.side = you;
    state.editor = kept;
    $("editor-error").textContent = error.message;
  }
}

export function setup() {
  board.setEditor(edit);
  $("edit").addEventListener("click", open);
  $("editor-use").addEventListener("click", use);
  $("editor-cancel").addEventListener("click", close);
  $("editor-clear").addEventListener("click", () => set("-".repeat(64)));
  $("editor-start").addEventListener("click", () => set(START, "black"));
  for (const input of document.getElementsByName("editor-side")) input.addEventListener("change", () => set(state.editor.cells, input.value));
}
