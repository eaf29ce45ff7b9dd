// Keyboard shortcuts.

import { $, make, fill } from "./dom.js";
import { state, goTo, goToSibling, undo, redo, isAtEnd } from "./state.js";

const click = (id) => () => { if (!$(id).disabled) $(id).click(); };

/// The shortcuts: keys, description, action.
const SHORTCUTS = [
  [["ArrowLeft"], "← previous move", () => { if (state.ply > 0) goTo(state.ply - 1); }],
  [["ArrowRight"], "→ next move", () => { if (!isAtEnd()) goTo(state.ply + 1); }],
  [["ArrowUp"], "↑ previous variation", () => goToSibling(-1)],
  [["ArrowDown"], "↓ next variation", () => goToSibling(1)],
  [["Home"], "Home: first position", () => goTo(0)],
  [["End"], "End: last position", () => goTo(state.path.length)],
  [["u"], "U take back", click("take-back")],
  [["n"], "N new game (can be undone)", click("new")],
  [["a"], "A analyze, stop or continue", click("analyze")],
  [["t"], "T evaluation of moves", click("show-evaluation")],
  [["e"], "E expert predictions", click("show-experts")],
  [["f"], "F flip the board", click("flip")],
  [["r"], "R rotate the board", click("rotate")],
  [["?"], "? this list", click("help")],
];

export function setup() {
  $("help").addEventListener("click", () => {
    fill($("shortcuts"), ["Ctrl+Z undo, Ctrl+Shift+Z redo", ...SHORTCUTS.map(([, text]) => text), "On the board: arrow keys and Enter"].map((text) => make("li", {}, text)));
    $("shortcuts-dialog").showModal();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input:not([type=radio]):not([type=checkbox]), select, textarea, dialog") || event.altKey || $("play").hidden) return;
    if (event.ctrlKey || event.metaKey) {
      const key = event.key.toLowerCase();
      if (key === "z" || key === "y") { event.preventDefault(); (key === "y" || event.shiftKey ? redo : undo)(); }
      return;
    }
    if (event.target.closest("[role=tab], [type=radio]") && event.key.startsWith("Arrow")) return;
    const found = SHORTCUTS.find(([keys]) => keys.includes(event.key) || keys.includes(event.key.toLowerCase()));
    if (!found) return;
    if (event.key.length > 1) event.preventDefault();
    found[2]();
  });
}
