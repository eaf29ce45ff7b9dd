// The entry point: navigation, tabs, theme, and the setup of all modules.

import { $ } from "./dom.js";
import { get } from "./api.js";
import { startGame, restore, notifyChange, openRecord, state } from "./state.js";
import * as store from "./store.js";
import * as board from "./board.js";
import * as play from "./play.js";
import * as hints from "./hints.js";
import * as analysis from "./analysis.js";
import * as explorer from "./explorer.js";
import * as share from "./share.js";
import * as players from "./players.js";
import * as moves from "./moves.js";
import * as editor from "./editor.js";
import * as keys from "./keys.js";
import { notice, setup as setupNotice } from "./notice.js";

$("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  document.documentElement.dataset.theme = next;
});

const TABS = ["game", "analysis", "openings", "share"];
function openTab(selected) {
  for (const name of TABS) {
    const on = name === selected;
    $(`tab-${name}`).setAttribute("aria-selected", on);
    $(`tab-${name}`).tabIndex = on ? 0 : -1;
    $(`panel-${name}`).hidden = !on;
  }
}
for (const [index, name] of TABS.entries()) {
  $(`tab-${name}`).addEventListener("click", () => openTab(name));
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    const next = TABS[(index + step + TABS.length) % TABS.length];
    openTab(next);
    $(`tab-${next}`).focus();
    $(`tab-${next}`).click();
  });
}

// Two views; the module of the lab view is loaded on first use.
let lab = null;
async function showView(view) {
  const isLab = view === "lab";
  $("play").hidden = isLab;
  $("lab").hidden = !isLab;
  $("nav-play").toggleAttribute("aria-current", !isLab);
  $("nav-lab").toggleAttribute("aria-current", isLab);
  if (isLab) { lab ??= await import("./lab.js"); lab.open(location.hash); } else lab?.close();
}
const isLabUrl = () => location.hash.startsWith("#lab");
$("nav-lab").addEventListener("click", () => { location.hash = "#lab"; });
const showPlay = () => { history.pushState({ id: state.id }, "", "#"); showView("play"); notifyChange("players"); };
$("nav-play").addEventListener("click", showPlay);
$("brand").addEventListener("click", (event) => { event.preventDefault(); showPlay(); });

/// Restores the game of this entry of the history, and reports an invalid one.
async function restoreGame() {
  const error = await restore();
  if (error) play.setStatus(`Invalid game in the URL: ${error}`);
}
addEventListener("popstate", async () => {
  if (isLabUrl()) return showView("lab");
  await showView("play");
  await restoreGame();
});

$("flip").addEventListener("click", () => { board.turn(2); board.draw(); notifyChange("view"); });
$("rotate").addEventListener("click", () => { board.turn(1); board.draw(); notifyChange("view"); });

board.build(play.move);
setupNotice();
play.setup();
moves.setup();
hints.setup();
analysis.setup();
share.setup();
editor.setup();
keys.setup();
const loaded = get("/api/players").then(players.load);
let restoreError = null;
if (isLabUrl()) {
  const { hash } = location;
  await startGame({ isFirst: true }); // the game of the play view
  history.replaceState(null, "", hash);
  showView("lab");
} else {
  const isBare = location.hash.length < 2;
  restoreError = await restore();
  const [last] = isBare ? store.recent() : [];
  if (last && last.id !== state.id) notice("Your last game is kept.", [["Continue it", () => openRecord(last)]]);
}
await Promise.all([loaded, explorer.setup()]);
if (!isLabUrl()) notifyChange("players");
if (restoreError) play.setStatus(`Invalid game in the URL: ${restoreError}`);
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
