// Import and export of games: text, files, links, pictures, reports.

import { $, make, fill, save, plural } from "./dom.js";
import { upload, postForResponse } from "./api.js";
import { state, subscribe, treeText, gameRequest, notifyChange, openRecord } from "./state.js";
import { lines, parse } from "./tree.js";
import * as store from "./store.js";
import { newGame } from "./play.js";

const setNote = (text) => { $("share-note").textContent = text; };

async function importGames(bytes, name) {
  $("open-error").textContent = "";
  fill($("games"));
  try {
    const found = await upload(`/api/games?name=${encodeURIComponent(name)}`, bytes);
    if (found.errors.length) $("open-error").textContent = `Games with errors: ${found.errors.join("; ")}`;
    if (found.games.length === 1) await showGame(found.games[0]);
    else listGames(found);
  } catch (error) { $("open-error").textContent = error.message; }
}

async function showGame(game) {
  state.side = "both";
  await newGame({ game: "othello", start: game.start, moves: game.moves, names: { black: game.black, white: game.white } });
  notifyChange("players");
}

/// Opens pasted text: a link of this page, moves with variations, or any game file.
async function importText(text) {
  const link = text.match(/#(g=[^\s]+)$/);
  $("open-error").textContent = "";
  try {
    if (link) {
      const params = new URLSearchParams(link[1]);
      return await newGame({ game: params.get("g") === "checkers" ? "checkers" : "othello", start: params.get("s"), moves: params.get("m") ?? "" });
    }
    // Comments of files contain spaces; moves with variations are squares and parentheses only.
    if (state.game === "othello" && /^[\sa-h1-8()]+$/i.test(text) && text.includes("(")) {
      lines(parse(text, "othello"));
      return await newGame({ moves: text });
    }
    if (state.game === "checkers" && /^\s*[\dx\s().-]+$/.test(text)) return await newGame({ moves: text });
  } catch (error) { $("open-error").textContent = error.message; return null; }
  return importGames(text, "pasted");
}

const recentName = (record) => [record.names?.black && `${record.names.black} – ${record.names.white}`, `${record.moves.replace(/\(.*?\)/g, "").slice(0, 24)}…`,
  new Date(record.time).toLocaleString()].filter(Boolean).join(" · ");

/// Lists the games in local storage.
function listRecent() {
  const found = store.recent().filter((record) => record.id !== state.id).slice(0, 12);
  fill($("recent"), found.length ? make("h2", {}, "Recent games in this browser") : null,
    make("ul", { class: "recent" }, found.map((record) => make("li", {}, make("button", { type: "button", class: "link", onclick: () => openRecord(record) }, recentName(record))))));
}

function listGames(found) {
  const filter = make("input", { type: "text", placeholder: "Filter by player, event or year", "aria-label": "Filter games" });
  const list = make("div", { class: "scroll", style: "max-height:320px;overflow-y:auto" });
  const text = (game) => `${game.black} – ${game.white} ${game.event} ${game.date}`;
  const draw = () => {
    const query = filter.value.toLowerCase();
    const matches = found.games.filter((game) => text(game).toLowerCase().includes(query));
    fill(list, make("table", {}, make("tbody", {}, matches.slice(0, 200).map((game, index) => make("tr", {},
      make("td", {}, make("button", { type: "button", class: "link", onclick: () => showGame(game) }, game.black || game.white ? `${game.black || "?"} – ${game.white || "?"}` : `Game ${index + 1}: ${game.moves.slice(0, 12)}…`)),
      make("td", { class: "hint" }, [game.event, game.date.slice(0, 4)].filter(Boolean).join(", ")),
      make("td", { class: "r" }, game.result == null ? "" : (game.result > 0 ? "+" : "") + game.result))))),
    matches.length > 200 ? make("p", { class: "hint" }, `${plural(matches.length - 200, "more game")}; use the filter.`) : null);
  };
  filter.addEventListener("input", draw);
  fill($("games"), make("h3", {}, plural(found.total, "game")), filter, list);
  draw();
}

/// Draws the position as a standalone SVG.
function boardSvg() {
  const cell = 60, edge = 30, size = 8 * cell + 2 * edge;
  const parts = [`<rect width="${size}" height="${size}" rx="14" fill="#5d4630"/>`, `<rect x="${edge}" y="${edge}" width="${8 * cell}" height="${8 * cell}" fill="#2f7a54"/>`];
  const { cells } = state.position;
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
  const { step } = state.node;
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

async function savePng() {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(boardSvg())}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save("outflank.png", blob));
}

async function saveReport() {
  if (state.game !== "othello") return setNote("Reports are available for Othello only.");
  const rows = state.path.flatMap(({ row }) => (row?.value_after == null ? [] : [{ ply: row.ply, value_after: row.value_after, loss: row.loss, exact: row.exact, best: row.best }]));
  const response = await postForResponse("/api/report", { ...gameRequest(), ...state.names, rows });
  if (!response.ok) return setNote((await response.json()).error);
  save("outflank-game.html", await response.blob());
  setNote(rows.length ? "Report saved." : "Report saved. Analyze the game first to include the analysis.");
}

async function copy(text, what) {
  try { await navigator.clipboard.writeText(text); setNote(`${what} copied.`); } catch { setNote("Copying is not allowed by the browser. Select the text instead."); }
}

export function setup() {
  $("open-text").addEventListener("click", () => importText($("paste").value.trim()));
  $("file").addEventListener("change", async () => {
    const [file] = $("file").files;
    if (file) await importGames(await file.arrayBuffer(), file.name);
    $("file").value = "";
  });
  $("copy-text").addEventListener("click", () => copy($("transcript").value, "Moves"));
  $("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  $("save-text").addEventListener("click", () => save("outflank.txt", `${$("transcript").value}\n`, "text/plain"));
  $("save-svg").addEventListener("click", () => save("outflank.svg", boardSvg(), "image/svg+xml"));
  $("save-png").addEventListener("click", savePng);
  $("save-report").addEventListener("click", saveReport);
  subscribe((event) => {
    if (event !== "position") return;
    $("transcript").value = (state.start ? `${state.start}: ` : "") + treeText();
    $("position-text").value = state.position.position;
  });
  $("tab-share").addEventListener("click", listRecent);
  $("copy-position").addEventListener("click", () => copy($("position-text").value, "Position"));
  setupDrop();
}

/// Opens files and text dropped on the page.
function setupDrop() {
  document.addEventListener("dragover", (event) => { if ([...event.dataTransfer.types].some((type) => type === "Files" || type === "text/plain")) event.preventDefault(); });
  document.addEventListener("drop", async (event) => {
    if ($("play").hidden || event.target.closest("textarea, input")) return;
    event.preventDefault();
    $("tab-share").click();
    const [file] = event.dataTransfer.files;
    if (file) await importGames(await file.arrayBuffer(), file.name);
    else await importText(event.dataTransfer.getData("text/plain").trim());
  });
}
