// Tests the page in a browser: plays games, keeps and analyzes them, imports and exports, sets up positions, views a
// league; at desktop and phone size, in light and dark theme.
//
// node page.mjs URL CHROMIUM [SCREENSHOT FOLDER]

import assert from "node:assert/strict";
import { assertNoOverflow, browser, click, GAME, openPage, paste, screenshot, status, waitForPly } from "./support.mjs";
import { testKeeping } from "./keep.mjs";
import { testTools } from "./tools.mjs";

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
  assert.match(await page.locator("#opponent").innerText(), /3\. Casual · \d+ ± \d+/);
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await page.waitForSelector("#board .value");
  await page.waitForSelector("#board .probability");
  await screenshot(page, `${name}-hints`);
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await assertNoOverflow(page, name);
  await click(page, "f5");
  await waitForPly(page, "2 / 2");
  await page.keyboard.press("u"); // takes back the move and the reply
  await waitForPly(page, "0 / 0");
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
  await paste(page, GAME);
  await waitForPly(page, "60 / 60");
  assert.equal(await page.locator("#open-error").innerText(), "");
  await page.locator("#tab-analysis").click();
  const start = Date.now();
  await page.locator("#analyze").click();
  await page.waitForFunction(() => document.querySelectorAll("#moves .row-value").length === 60);
  console.log(`${name}: first values of all moves after ${Date.now() - start} ms`);
  await page.waitForFunction(() => /^Depth/.test(document.querySelector("#analysis-note").textContent));
  await page.waitForSelector("#graph polyline");
  // Graded mistakes, accuracy per side, turning points.
  assert.ok(await page.locator("#mistakes button.blunder").count() >= 3);
  assert.ok(await page.locator("#graph .mark").count() >= 3);
  assert.equal(await page.locator("#mistakes .summary tbody tr").count(), 2);
  assert.ok(await page.locator("#mistakes .turns li").count() >= 1);
  await screenshot(page, `${name}-analysis`);
  await assertNoOverflow(page, name);
  const sides = async () => new Set((await page.locator("#mistakes button b").allInnerTexts()).map((text) => text.split(" ")[1]));
  assert.deepEqual(await sides(), new Set(["Black", "White"]));
  await page.selectOption("#mistakes-of", "white");
  assert.deepEqual(await sides(), new Set(["White"]));
  await page.selectOption("#mistakes-of", "both");
  // The analysis can be stopped and continued; it keeps what it has.
  assert.equal(await page.locator("#analyze").innerText(), "Continue deeper");
  const exact = await page.locator("#moves .move[title=exact]").count();
  assert.ok(exact >= 12);
  await page.locator("#analyze").click();
  await page.waitForTimeout(500);
  await page.locator("#analyze").click();
  await page.waitForFunction(() => /kept|^Depth/.test(document.querySelector("#analysis-note").textContent));
  assert.ok(await page.locator("#moves .move[title=exact]").count() >= exact);
  // A variation has its own analysis and keeps that of the moves before it.
  for (let ply = 59; ply >= 50; ply--) {
    await page.locator("#back").click();
    await waitForPly(page, `${ply} / 60`);
  }
  await click(page, "g8"); // Black played b2 here
  await waitForPly(page, "51 / 51");
  assert.equal(await page.locator("#analyze").innerText(), "Analyze the other moves");
  await page.locator("#analyze").click();
  await page.waitForFunction(() => document.querySelectorAll("#moves .variation .row-value").length === 1);
  await page.waitForFunction(() => document.querySelector("#analyze").textContent !== "Stop");
  await page.locator("#first").click();
  await page.waitForFunction(() => document.querySelector("#ply").textContent.startsWith("0 /"));
  await page.locator("#tab-openings").click();
  await page.locator("#forward").click();
  await page.locator("#forward").click();
  await page.waitForFunction(() => document.querySelector("#opening").textContent.includes("Parallel"));
  assert.equal(await page.locator("#opening-name").innerText(), "Parallel"); // beside the board
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
  await page.locator("#panel-game .choice label", { hasText: "Black" }).click();
  await page.locator("#new").click();
  await page.getByLabel("11, black man, legal move").click();
  await page.getByLabel("15, empty, legal move").click();
  await waitForPly(page, "2 / 2");
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
    assert.ok(bytes < 100_000);
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
  await testKeeping();
  await testTools();
} finally {
  await browser.close();
}
