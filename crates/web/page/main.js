// The entry point: navigation, tabs, theme, and the setup of all modules.

import { $ } from "./dom.js";
import { get } from "./api.js";
import { startGame, restore, notifyChange } from "./state.js";
import * as board from "./board.js";
import * as play from "./play.js";
import * as hints from "./hints.js";
import * as analysis from "./analysis.js";
import * as explorer from "./explorer.js";
import * as share from "./share.js";

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
$("nav-play").addEventListener("click", () => { showView("play"); notifyChange("players"); });
$("brand").addEventListener("click", (event) => { event.preventDefault(); showView("play"); notifyChange("players"); });
addEventListener("hashchange", async () => {
  if (isLabUrl()) return showView("lab");
  showView("play");
  const error = await restore();
  if (error) play.setStatus(`Invalid game in the URL: ${error}`);
});

board.build(play.move);
play.setup();
hints.setup();
analysis.setup();
share.setup();
const players = get("/api/players").then(play.loadPlayers);
let restoreError = null;
if (isLabUrl()) {
  const { hash } = location;
  await startGame(); // the game of the play view
  history.replaceState(null, "", hash);
  showView("lab");
} else restoreError = await restore();
await Promise.all([players, explorer.setup()]);
if (!isLabUrl()) notifyChange("players");
if (restoreError) play.setStatus(`Invalid game in the URL: ${restoreError}`);
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
