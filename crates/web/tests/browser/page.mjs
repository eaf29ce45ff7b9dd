// Tests the page in a browser: plays a game, analyzes a transcript, imports and exports games, views a league,
// plays checkers; at desktop and phone size, in light and dark theme.
//
// node page.mjs URL CHROMIUM [SCREENSHOT FOLDER]

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [url, executablePath, screenshots] = process.argv.slice(2);
// A complete game of 60 moves with mistakes.
const GAME = "e6d6c6d7c8b6a6f3c5d8e8e7e3f8c4b8f7f6g3c3c2b5g6c1b4a3f5h6b3a4c7f4g5h5d3h3d2a5a2d1e1f1f2e2h4g4h7h8g7b7b2a1a7a8b1g1h1g2h2g8";

const browser = await chromium.launch({
  executablePath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/// Opens a new page; script errors and requests to other servers fail the test.
async function openPage(width, height, colorScheme, hash = "", prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", hasTouch: width < 600 });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => { throw error; });
  page.on("console", (line) => { if (line.type() === "error" && !/40\d/.test(line.text())) throw new Error(line.text()); });
  page.on("request", (request) => assert.match(request.url(), new RegExp(`^(${url}|data:|blob:)`)));
  await prepare(page);
  await page.goto(`${url}/${hash}`);
  await page.waitForSelector("html[data-ready=yes]");
  return page;
}

const screenshot = async (page, name) => { if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true }); };
const status = (page) => page.locator("#status").innerText();
const assertNoOverflow = async (page, name) => {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} pixels too wide`);
};

/// Plays against the opponent until the game is over, by mouse or keyboard.
async function playGame(page, byKeyboard) {
  await page.selectOption("#opponent", "random");
  for (let turn = 0; turn < 80; turn++) {
    await page.waitForFunction(() => /Your move|win|lose|draw/i.test(document.querySelector("#status").textContent));
    if (/win|lose|draw/i.test(await status(page))) break;
    const cell = page.locator("#board .cell.can").first();
    const before = await page.locator("#ply").innerText();
    if (byKeyboard) { await cell.focus(); await page.keyboard.press("Enter"); } else await cell.click();
    await page.waitForFunction((old) => document.querySelector("#ply").textContent !== old, before);
  }
  assert.match(await status(page), /You (win|lose)|draw/);
  const counts = await page.locator(".player .count").allInnerTexts();
  const discs = await page.locator("#board .disc").count();
  assert.equal(Number(counts[0]) + Number(counts[1]), discs);
}

async function testPlay(page, name, byKeyboard) {
  assert.equal(await page.locator("#board .cell.can").count(), 4); // ready to play
  assert.match(await page.locator("#opponent").innerText(), /Casual · \d+ ± \d+/);
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await page.waitForSelector("#board .value");
  await page.waitForSelector("#board .probability");
  await screenshot(page, `${name}-hints`);
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await assertNoOverflow(page, name);
  await page.getByLabel("f5, empty, legal move").click();
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "2 / 2");
  await page.keyboard.press("u"); // takes back the move and the reply
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "0 / 0");
  await playGame(page, byKeyboard);
  await screenshot(page, `${name}-over`);
  const moves = await page.locator("#ply").innerText();
  await page.reload(); // the URL contains the game
  await page.waitForSelector("html[data-ready=yes]");
  assert.equal(await page.locator("#ply").innerText(), moves);
}

async function testAnalysis(page, name) {
  await page.locator("#tab-share").click();
  await page.fill("#paste", "f5d6zz");
  await page.locator("#open-text").click();
  await page.waitForFunction(() => document.querySelector("#open-error").textContent.includes("move 3"));
  await screenshot(page, `${name}-invalid`);
  await page.fill("#paste", GAME);
  await page.locator("#open-text").click();
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "60 / 60");
  assert.equal(await page.locator("#open-error").innerText(), "");
  await page.locator("#tab-analysis").click();
  await page.locator("#analyze").click();
  await page.waitForFunction(() => /^Done/.test(document.querySelector("#analysis-note").textContent));
  await page.waitForSelector("#graph polyline");
  assert.ok(await page.locator(".mistake").count() >= 3);
  await screenshot(page, `${name}-analysis`);
  await assertNoOverflow(page, name);
  // Playing another move in the middle keeps the analysis of earlier moves and drops that of later ones.
  for (let ply = 59; ply >= 50; ply--) {
    await page.locator("#back").click();
    await page.waitForFunction((at) => document.querySelector("#ply").textContent === `${at} / 60`, ply);
  }
  const mistakes = await page.locator(".mistake b").allInnerTexts();
  assert.ok(mistakes.some((text) => parseInt(text, 10) > 51), mistakes.join());
  await page.locator("#analyze").click();
  await page.getByLabel("g8, empty, legal move").click(); // Black played b2 here
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "51 / 51");
  await page.waitForFunction(() => document.querySelector("#analyze").textContent === "Analyze game");
  assert.match(await page.locator("#analysis-note").innerText(), /has changed|^Done/);
  const left = (await page.locator(".mistake b").allInnerTexts()).map((text) => parseInt(text, 10));
  assert.ok(left.every((ply) => ply <= 50), left.join());
  await page.locator("#first").click();
  await page.waitForFunction(() => document.querySelector("#ply").textContent.startsWith("0 /"));
  await page.locator("#tab-openings").click();
  await page.locator("#forward").click();
  await page.locator("#forward").click();
  await page.waitForFunction(() => document.querySelector("#opening").textContent.includes("Parallel"));
  await screenshot(page, `${name}-openings`);
  await assertNoOverflow(page, name);
}

/// Imports a file and exports the game in every format.
async function testImportExport(page) {
  await page.locator("#tab-share").click();
  const ggf = "(;GM[Othello]PB[Ada]PW[Ben]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6];)";
  await page.setInputFiles("#file", { name: "x.ggf", mimeType: "text/plain", buffer: Buffer.from(ggf) });
  await page.waitForFunction(() => document.querySelector("#player-bottom").textContent.includes("Ada"));
  assert.equal(await page.inputValue("#transcript"), "f5d6");
  for (const [button, file] of [["text", "outflank.txt"], ["svg", "outflank.svg"], ["png", "outflank.png"], ["report", "outflank-game.html"]]) {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.locator(`#save-${button}`).click()]);
    assert.equal(saved.suggestedFilename(), file);
  }
}

/// A side loses when its time is up.
async function testClock() {
  const page = await openPage(1280, 800, "light", "#g=othello&you=white&with=random", (page) => page.clock.install());
  await page.selectOption("#clock", "3");
  // A new game starts, and the user's clock runs after the opponent's first move.
  await page.waitForFunction(() => /^2:5\d$/.test(document.querySelector("#player-bottom .time")?.textContent));
  await page.clock.runFor(181_000);
  assert.match(await status(page), /White's time is up: black wins on time/);
  assert.equal(await page.locator("#board .cell.can").count(), 0);
  await page.context().close();
}

/// An invalid game in the URL is reported, and a new game is shown.
async function testInvalidUrl() {
  const page = await openPage(1280, 800, "light", "#g=othello&m=f5d6zz");
  assert.match(await status(page), /Invalid game in the URL: move 3/);
  assert.equal(await page.locator("#board .cell.can").count(), 4);
  await page.context().close();
}

/// Asserts that the texts of charts are inside them.
const assertTextInside = async (page, name) => {
  const outside = await page.evaluate(() => [...document.querySelectorAll("#lab svg text")].filter((text) => {
    const [own, all] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return own.left < all.left - 1 || own.right > all.right + 1;
  }).map((text) => text.textContent));
  assert.deepEqual(outside, [], name);
};

async function testLab(page, name) {
  await page.locator("#nav-lab").click();
  await page.getByRole("link", { name: "train-001" }).click();
  await page.waitForSelector("#lab polyline");
  await assertTextInside(page, name);
  await screenshot(page, `${name}-curve`);
  await page.getByRole("button", { name: "Runs" }).click();
  await page.getByRole("link", { name: "league-001" }).click();
  await page.waitForSelector("#cross");
  assert.equal(await page.locator("#cross tbody tr").count(), 3);
  await screenshot(page, `${name}-league`);
  await assertNoOverflow(page, name);
  await page.getByRole("button", { name: "Models" }).click();
  await page.selectOption("#model", "heuristic");
  await page.waitForFunction(() => document.querySelector("#lab h1")?.textContent === "heuristic");
  await screenshot(page, `${name}-model`);
  await assertNoOverflow(page, name);
  await page.getByRole("button", { name: "Explain a move" }).click();
  await page.waitForSelector("#explain-move");
  await screenshot(page, `${name}-explain`);
  await assertNoOverflow(page, name);
  await page.getByRole("button", { name: "Ratings" }).click();
  await page.getByText("champion@6e14").first().waitFor();
  await assertTextInside(page, name);
  await screenshot(page, `${name}-ratings`);
  await assertNoOverflow(page, name);
  await page.locator("#nav-play").click();
  await page.waitForSelector("#board .disc");
}

async function testCheckers(page, name) {
  await page.locator("#tab-game").click();
  await page.selectOption("#game", "checkers");
  await page.waitForSelector("#board .cell.dark");
  await page.locator("label", { hasText: "Black" }).first().click();
  await page.locator("#new").click();
  await page.getByLabel("11, black man, legal move").click();
  await page.getByLabel("15, empty, legal move").click();
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "2 / 2");
  await screenshot(page, `${name}-checkers`);
  await assertNoOverflow(page, name);
}

try {
  for (const [name, width, height, scheme] of [["desktop", 1280, 800, "light"], ["phone", 360, 740, "dark"]]) {
    const page = await openPage(width, height, scheme);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    const ready = await page.evaluate(() => Math.round(performance.getEntriesByType("mark").find((mark) => mark.name === "ready").startTime));
    const bytes = await page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((sum, entry) => sum + entry.transferSize, 0));
    console.log(`${name}: ready after ${ready} ms, ${bytes} bytes transferred`);
    assert.ok(bytes < 200_000);
    await screenshot(page, `${name}-start`);
    await testPlay(page, name, name === "desktop");
    await testAnalysis(page, name);
    await testImportExport(page);
    await testLab(page, name);
    await testCheckers(page, name);
    await page.locator("#theme").click();
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    await screenshot(page, `${name}-other-theme`);
    await page.context().close();
    console.log(`${name}: passed`);
  }
  await testClock();
  await testInvalidUrl();
} finally {
  await browser.close();
}
