// The page in a real browser: a whole game is played, a transcript analysed, a broken one refused,
// a league viewed, checkers played, at desk and telephone width, light and dark.
//
// node page.mjs ADDRESS CHROMIUM [FOLDER FOR PICTURES]

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [address, executablePath, pictures] = process.argv.slice(2);
// Sixty moves by two beginners.
const GAME = "e6d6c6d7c8b6a6f3c5d8e8e7e3f8c4b8f7f6g3c3c2b5g6c1b4a3f5h6b3a4c7f4g5h5d3h3d2a5a2d1e1f1f2e2h4g4h7h8g7b7b2a1a7a8b1g1h1g2h2g8";

const browser = await chromium.launch({
  executablePath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/// A fresh page that fails the test on any fault of its own or any request that leaves the server.
async function visit(width, height, colorScheme, hash = "", prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", hasTouch: width < 600 });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => { throw error; });
  page.on("console", (line) => { if (line.type() === "error" && !/40\d/.test(line.text())) throw new Error(line.text()); });
  page.on("request", (request) => assert.match(request.url(), new RegExp(`^(${address}|data:|blob:)`)));
  await prepare(page);
  await page.goto(`${address}/${hash}`);
  await page.waitForSelector("html[data-ready=yes]");
  return page;
}

const picture = async (page, name) => { if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true }); };
const status = (page) => page.locator("#status").innerText();
const fits = async (page, name) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
};

/// Plays against the opponent until the game is over, by mouse or by keyboard.
async function wholeGame(page, byKeyboard) {
  await page.selectOption("#opponent", "random");
  for (let turn = 0; turn < 80; turn++) {
    await page.waitForFunction(() => /Your move|win|lose|draw/i.test(document.querySelector("#status").textContent));
    if (/win|lose|draw/i.test(await status(page))) break;
    const cell = page.locator("#board .cell.can").first();
    const before = await page.locator("#where").innerText();
    if (byKeyboard) { await cell.focus(); await page.keyboard.press("Enter"); } else await cell.click();
    await page.waitForFunction((old) => document.querySelector("#where").textContent !== old, before);
  }
  assert.match(await status(page), /You (win|lose)|draw/);
  const counts = await page.locator(".seat .count").allInnerTexts();
  const discs = await page.locator("#board .disc").count();
  assert.equal(Number(counts[0]) + Number(counts[1]), discs);
}

async function playing(page, name, byKeyboard) {
  assert.equal(await page.locator("#board .cell.can").count(), 4); // one may play at once
  assert.match(await page.locator("#opponent").innerText(), /Casual · \d+ ± \d+/);
  await page.locator("label.switch", { hasText: "search" }).click();
  await page.locator("label.switch", { hasText: "experts" }).click();
  await page.waitForSelector("#board .value");
  await page.waitForSelector("#board .odds");
  await picture(page, `${name}-hints`);
  await page.locator("label.switch", { hasText: "search" }).click();
  await page.locator("label.switch", { hasText: "experts" }).click();
  await fits(page, name);
  await page.getByLabel("f5, empty, you may play here").click();
  await page.waitForFunction(() => document.querySelector("#where").textContent === "2 / 2");
  await page.keyboard.press("u"); // takes back the reply and the move
  await page.waitForFunction(() => document.querySelector("#where").textContent === "0 / 0");
  await wholeGame(page, byKeyboard);
  await picture(page, `${name}-over`);
  const moves = await page.locator("#where").innerText();
  await page.reload(); // nothing is lost
  await page.waitForSelector("html[data-ready=yes]");
  assert.equal(await page.locator("#where").innerText(), moves);
}

async function analysing(page, name) {
  await page.locator("#tab-share").click();
  await page.fill("#paste", "f5d6zz");
  await page.locator("#open-text").click();
  await page.waitForFunction(() => document.querySelector("#open-error").textContent.includes("move 3"));
  await picture(page, `${name}-refused`);
  await page.fill("#paste", GAME);
  await page.locator("#open-text").click();
  await page.waitForFunction(() => document.querySelector("#where").textContent === "60 / 60");
  assert.equal(await page.locator("#open-error").innerText(), "");
  await page.locator("#tab-analysis").click();
  await page.locator("#analyse").click();
  await page.waitForFunction(() => /^Done/.test(document.querySelector("#analysis-note").textContent));
  await page.waitForSelector("#graph polyline");
  assert.ok(await page.locator(".mistake").count() >= 3);
  await picture(page, `${name}-analysis`);
  await fits(page, name);
  // Another move in the middle is another game: what was found about the moves before it stays, and
  // nothing comes in about those that are gone.
  for (let ply = 59; ply >= 50; ply--) {
    await page.locator("#back").click();
    await page.waitForFunction((at) => document.querySelector("#where").textContent === `${at} / 60`, ply);
  }
  const bad = await page.locator(".mistake b").allInnerTexts();
  assert.ok(bad.some((text) => parseInt(text, 10) > 51), bad.join());
  await page.locator("#analyse").click();
  await page.getByLabel("g8, empty, you may play here").click(); // Black played b2
  await page.waitForFunction(() => document.querySelector("#where").textContent === "51 / 51");
  await page.waitForFunction(() => document.querySelector("#analyse").textContent === "Analyse this game");
  assert.match(await page.locator("#analysis-note").innerText(), /another one now|^Done/);
  const left = (await page.locator(".mistake b").allInnerTexts()).map((text) => parseInt(text, 10));
  assert.ok(left.every((ply) => ply <= 50), left.join());
  await page.locator("#first").click();
  await page.waitForFunction(() => document.querySelector("#where").textContent.startsWith("0 /"));
  await page.locator("#tab-book").click();
  await page.locator("#forward").click();
  await page.locator("#forward").click();
  await page.waitForFunction(() => document.querySelector("#opening").textContent.includes("Parallel"));
  await picture(page, `${name}-book`);
  await fits(page, name);
}

/// What is opened from a file and what is given away.
async function sharing(page) {
  await page.locator("#tab-share").click();
  const ggf = "(;GM[Othello]PB[Ada]PW[Ben]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6];)";
  await page.setInputFiles("#file", { name: "x.ggf", mimeType: "text/plain", buffer: Buffer.from(ggf) });
  await page.waitForFunction(() => document.querySelector("#seat-bottom").textContent.includes("Ada"));
  assert.equal(await page.inputValue("#transcript"), "f5d6");
  for (const [button, file] of [["text", "outflank.txt"], ["svg", "outflank.svg"], ["png", "outflank.png"], ["report", "outflank-game.html"]]) {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.locator(`#save-${button}`).click()]);
    assert.equal(saved.suggestedFilename(), file);
  }
}

/// A game is lost when the time is over.
async function clocks() {
  const page = await visit(1280, 800, "light", "#g=othello&you=white&with=random", (page) => page.clock.install());
  await page.selectOption("#clock", "3");
  // The game begins again, and our clock runs once the opponent has moved.
  await page.waitForFunction(() => /^2:5\d$/.test(document.querySelector("#seat-bottom .time")?.textContent));
  await page.clock.runFor(181_000);
  assert.match(await status(page), /White's time is over: black wins on time/);
  assert.equal(await page.locator("#board .cell.can").count(), 0);
  await page.context().close();
}

/// An address with a game that is none says so, and a board is there all the same.
async function wrongAddress() {
  const page = await visit(1280, 800, "light", "#g=othello&m=f5d6zz");
  assert.match(await status(page), /could not be read: move 3/);
  assert.equal(await page.locator("#board .cell.can").count(), 4);
  await page.context().close();
}

/// Whatever is written in a drawing lies within it.
const written = async (page, name) => {
  const outside = await page.evaluate(() => [...document.querySelectorAll("#lab svg text")].filter((text) => {
    const [own, all] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return own.left < all.left - 1 || own.right > all.right + 1;
  }).map((text) => text.textContent));
  assert.deepEqual(outside, [], name);
};

async function laboratory(page, name) {
  await page.locator("#room-lab").click();
  await page.getByRole("link", { name: "learn-001" }).click();
  await page.waitForSelector("#lab polyline");
  await written(page, name);
  await picture(page, `${name}-curve`);
  await page.getByRole("button", { name: "Runs" }).click();
  await page.getByRole("link", { name: "league-001" }).click();
  await page.waitForSelector("#cross");
  assert.equal(await page.locator("#cross tbody tr").count(), 3);
  await picture(page, `${name}-league`);
  await fits(page, name);
  await page.getByRole("button", { name: "Models" }).click();
  await page.selectOption("#model", "heuristic");
  await page.waitForFunction(() => document.querySelector("#lab h1")?.textContent === "heuristic");
  await picture(page, `${name}-model`);
  await fits(page, name);
  await page.getByRole("button", { name: "Why this move" }).click();
  await page.waitForSelector("#why-move");
  await picture(page, `${name}-why`);
  await fits(page, name);
  await page.getByRole("button", { name: "Ratings" }).click();
  await page.getByText("champion@6e14").first().waitFor();
  await written(page, name);
  await picture(page, `${name}-ratings`);
  await fits(page, name);
  await page.locator("#room-play").click();
  await page.waitForSelector("#board .disc");
}

async function checkers(page, name) {
  await page.locator("#tab-game").click();
  await page.selectOption("#game", "checkers");
  await page.waitForSelector("#board .cell.dark");
  await page.locator("label", { hasText: "Black" }).first().click();
  await page.locator("#new").click();
  await page.getByLabel("11, black man, you may play here").click();
  await page.getByLabel("15, empty, you may play here").click();
  await page.waitForFunction(() => document.querySelector("#where").textContent === "2 / 2");
  await picture(page, `${name}-checkers`);
  await fits(page, name);
}

try {
  for (const [name, width, height, scheme] of [["desk", 1280, 800, "light"], ["phone", 360, 740, "dark"]]) {
    const page = await visit(width, height, scheme);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    const ready = await page.evaluate(() => Math.round(performance.getEntriesByType("mark").find((mark) => mark.name === "ready").startTime));
    const bytes = await page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((all, one) => all + one.transferSize, 0));
    console.log(`${name}: ready after ${ready} ms, ${bytes} bytes sent`);
    assert.ok(bytes < 200_000);
    await picture(page, `${name}-start`);
    await playing(page, name, name === "desk");
    await analysing(page, name);
    await sharing(page);
    await laboratory(page, name);
    await checkers(page, name);
    await page.locator("#theme").click();
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    await picture(page, `${name}-other-theme`);
    await page.context().close();
    console.log(`${name}: all is well`);
  }
  await clocks();
  await wrongAddress();
} finally {
  await browser.close();
}
