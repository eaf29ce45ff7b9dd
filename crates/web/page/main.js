// The page begins here: rooms, tabs, light and dark, and the parts wired together.

import { $ } from "./dom.js";
import { get } from "./api.js";
import { begin, restore, changed } from "./state.js";
import * as board from "./board.js";
import * as play from "./play.js";
import * as hints from "./hints.js";
import * as analysis from "./analysis.js";
import * as book from "./book.js";
import * as share from "./share.js";

$("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  document.documentElement.dataset.theme = next;
});

const TABS = ["game", "analysis", "book", "share"];
function openTab(wanted) {
  for (const name of TABS) {
    const on = name === wanted;
    $(`tab-${name}`).setAttribute("aria-selected", on);
    $(`tab-${name}`).tabIndex = on ? 0 : -1;
    $(`panel-${name}`).hidden = !on;
  }
}
for (const [place, name] of TABS.entries()) {
  $(`tab-${name}`).addEventListener("click", () => openTab(name));
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    const next = TABS[(place + step + TABS.length) % TABS.length];
    openTab(next);
    $(`tab-${next}`).focus();
    $(`tab-${next}`).click();
  });
}

// Two rooms; the laboratory is loaded when it is first entered.
let lab = null;
async function enter(room) {
  const inLab = room === "lab";
  $("play").hidden = inLab;
  $("lab").hidden = !inLab;
  $("room-play").toggleAttribute("aria-current", !inLab);
  $("room-lab").toggleAttribute("aria-current", inLab);
  if (inLab) { lab ??= await import("./lab.js"); lab.enter(location.hash); } else lab?.leave();
}
const inLab = () => location.hash.startsWith("#lab");
$("room-lab").addEventListener("click", () => { location.hash = "#lab"; });
$("room-play").addEventListener("click", () => { enter("play"); changed("players"); });
$("brand").addEventListener("click", (event) => { event.preventDefault(); enter("play"); changed("players"); });
addEventListener("hashchange", async () => {
  if (inLab()) return enter("lab");
  enter("play");
  const wrong = await restore();
  if (wrong) play.say(`The game in the address could not be read: ${wrong}`);
});

board.build(play.move);
play.setUp();
hints.setUp();
analysis.setUp();
share.setUp();
const players = get("/api/players").then(play.loadPlayers);
let wrong = null;
if (inLab()) {
  const address = location.hash;
  await begin(); // a board to come back to
  history.replaceState(null, "", address);
  enter("lab");
} else wrong = await restore();
await Promise.all([players, book.setUp()]);
if (!inLab()) changed("players");
if (wrong) play.say(`The game in the address could not be read: ${wrong}`);
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
