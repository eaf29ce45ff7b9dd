// Opening games, and giving them away: as text, a link, a picture or a report.

import { $, make, fill, save, plural } from "./dom.js";
import { upload } from "./api.js";
import { state, listen, transcript, sent, changed } from "./state.js";
import { newGame } from "./play.js";

const note = (text) => { $("share-note").textContent = text; };

async function open(bytes, name) {
  $("open-error").textContent = "";
  fill($("games"));
  try {
    const told = await upload(`/api/game?name=${encodeURIComponent(name)}`, bytes);
    if (told.faults.length) $("open-error").textContent = `Left out: ${told.faults.join("; ")}`;
    if (told.games.length === 1) await take(told.games[0]);
    else choose(told);
  } catch (error) { $("open-error").textContent = error.message; }
}

async function take(game) {
  state.side = "both";
  await newGame({ game: "othello", start: game.start, moves: game.moves, names: { black: game.black, white: game.white } });
  changed("players");
}

function choose(told) {
  const wished = make("input", { type: "text", placeholder: "Find a player, event or year", "aria-label": "Find a game" });
  const place = make("div", { class: "scroll", style: "max-height:320px;overflow-y:auto" });
  const text = (game) => `${game.black} – ${game.white} ${game.event} ${game.date}`;
  const draw = () => {
    const word = wished.value.toLowerCase();
    const found = told.games.filter((game) => text(game).toLowerCase().includes(word));
    fill(place, make("table", {}, make("tbody", {}, found.slice(0, 200).map((game, index) => make("tr", {},
      make("td", {}, make("button", { type: "button", class: "link", onclick: () => take(game) }, game.black || game.white ? `${game.black || "?"} – ${game.white || "?"}` : `Game ${index + 1}: ${game.moves.slice(0, 12)}…`)),
      make("td", { class: "hint" }, [game.event, game.date.slice(0, 4)].filter(Boolean).join(", ")),
      make("td", { class: "r" }, game.result == null ? "" : (game.result > 0 ? "+" : "") + game.result))))),
    found.length > 200 ? make("p", { class: "hint" }, `And ${plural(found.length - 200, "more game")}: narrow the search.`) : null);
  };
  wished.addEventListener("input", draw);
  fill($("games"), make("h3", {}, plural(told.total, "game")), wished, place);
  draw();
}

/// The board shown, as a picture that stands alone.
function picture() {
  const cell = 60, edge = 30, size = 8 * cell + 2 * edge;
  const parts = [`<rect width="${size}" height="${size}" rx="14" fill="#5d4630"/>`, `<rect x="${edge}" y="${edge}" width="${8 * cell}" height="${8 * cell}" fill="#2f7a54"/>`];
  const { cells } = state.here;
  for (let square = 0; square < 64; square++) {
    const x = edge + (square % 8) * cell, y = edge + Math.floor(square / 8) * cell;
    const light = state.game === "checkers" && (square + Math.floor(square / 8)) % 2 === 0;
    parts.push(`<rect x="${x}" y="${y}" width="${cell}" height="${cell}" fill="${light ? "#e9dcc0" : "#37875e"}" stroke="#24613f"/>`);
    const what = cells[square];
    if (what === "-") continue;
    const black = what === "X" || what === "B";
    parts.push(`<circle cx="${x + cell / 2}" cy="${y + cell / 2}" r="${cell * 0.41}" fill="${black ? "#191b1e" : "#f5f2e9"}" stroke="${black ? "#000" : "#b8b09b"}"/>`);
    if (what === "B" || what === "W") parts.push(`<text x="${x + cell / 2}" y="${y + cell * 0.68}" font-size="30" text-anchor="middle" fill="#d9a625">♛</text>`);
  }
  const step = state.ply ? state.line.steps[state.ply - 1] : null;
  if (step) {
    const last = step.path[step.path.length - 1];
    parts.push(`<circle cx="${edge + (last % 8) * cell + cell / 2}" cy="${edge + Math.floor(last / 8) * cell + cell / 2}" r="6" fill="#e4572e"/>`);
  }
  for (let i = 0; i < 8 && state.game === "othello"; i++) {
    const at = edge + i * cell + cell / 2;
    parts.push(`<text x="${at}" y="21" font-size="16" text-anchor="middle" fill="#e6d7bd" font-family="sans-serif">${"abcdefgh"[i]}</text><text x="15" y="${at + 6}" font-size="16" text-anchor="middle" fill="#e6d7bd" font-family="sans-serif">${i + 1}</text>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}">${parts.join("")}</svg>`;
}

async function png() {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(picture())}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save("outflank.png", blob));
}

async function report() {
  if (state.game !== "othello") return note("Reports are of games of Othello.");
  const rows = [...state.analysis.values()].map(({ ply, worth, loss, exact, best }) => ({ ply, worth, loss, exact, best }));
  const response = await fetch("/api/report", { method: "POST", body: JSON.stringify({ ...sent(), ...state.names, rows }) });
  if (!response.ok) return note((await response.json()).error);
  save("outflank-game.html", await response.blob());
  note(rows.length ? "The report is saved." : "The report is saved; analyse the game first for more in it.");
}

async function copy(text, what) {
  try { await navigator.clipboard.writeText(text); note(`${what} copied.`); } catch { note("The browser did not let us copy; select the text instead."); }
}

export function setUp() {
  $("open-text").addEventListener("click", () => open($("paste").value.trim(), "pasted.txt"));
  $("file").addEventListener("change", async () => {
    const [file] = $("file").files;
    if (file) await open(await file.arrayBuffer(), file.name);
    $("file").value = "";
  });
  $("copy-text").addEventListener("click", () => copy($("transcript").value, "Moves"));
  $("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  $("save-text").addEventListener("click", () => save("outflank.txt", `${$("transcript").value}\n`, "text/plain"));
  $("save-svg").addEventListener("click", () => save("outflank.svg", picture(), "image/svg+xml"));
  $("save-png").addEventListener("click", png);
  $("save-report").addEventListener("click", report);
  listen(() => { if (state.line) $("transcript").value = (state.start ? `${state.start}: ` : "") + transcript(); });
}
