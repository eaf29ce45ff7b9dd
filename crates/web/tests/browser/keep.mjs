// Tests that nothing is lost: undo, variations, reload, the browser's history, and failed requests.

import assert from "node:assert/strict";
import { click, GAME, openPage, paste, ply, ready, status, waitForPly } from "./support.mjs";

const transcript = (page) => page.inputValue("#transcript");

/// A new game, a clock or another kind of game can be undone.
async function testUndo() {
  const page = await openPage(1280, 900, "light");
  await paste(page, GAME);
  await waitForPly(page, "60 / 60");
  await page.locator("#tab-game").click();
  await page.locator("body").press("n");
  await waitForPly(page, "0 / 0");
  await page.locator("#notice").getByRole("button", { name: "Undo" }).click();
  await waitForPly(page, "60 / 60");
  await page.selectOption("#game", "checkers");
  await page.waitForSelector("#board .cell.dark");
  await page.locator("body").press("Control+z");
  await waitForPly(page, "60 / 60");
  assert.equal(await transcript(page), GAME);
  await page.selectOption("#clock", "3"); // applies to the next game
  await page.waitForSelector("#notice:not([hidden])");
  assert.equal(await ply(page), "60 / 60");
  await page.locator("#take-back").click();
  await waitForPly(page, "59 / 59");
  await page.locator("#undo").click();
  await waitForPly(page, "60 / 60");
  await page.locator("#redo").click();
  await waitForPly(page, "59 / 59");
  await page.locator("#undo").click();
  // Reviewing, "take back" does not delete the last move.
  await page.locator("#first").click();
  await waitForPly(page, "0 / 60");
  assert.ok(await page.locator("#take-back").isDisabled());
  await page.locator("body").press("u");
  await page.locator("#last").click();
  await waitForPly(page, "60 / 60");
  assert.equal(await transcript(page), GAME);
  await page.context().close();
}

/// Another move in an earlier position starts a variation; all of it survives a reload and the address alone.
async function testVariations() {
  const page = await openPage(1280, 900, "light");
  await paste(page, "f5d6c3d3c4f4");
  await waitForPly(page, "6 / 6");
  for (let at = 5; at >= 2; at--) { await page.locator("#back").click(); await waitForPly(page, `${at} / 6`); }
  await click(page, "c4"); // c3 was played
  await waitForPly(page, "3 / 3");
  assert.equal(await transcript(page), "f5d6c3(c4)d3c4f4");
  assert.equal(await page.locator("#moves .variation").count(), 1);
  await page.getByRole("button", { name: /^4\. white d3/ }).click(); // a move of the main line
  await waitForPly(page, "4 / 6");
  await page.getByRole("button", { name: /^3\. black c4/ }).click();
  await waitForPly(page, "3 / 3");
  await page.locator("body").press("ArrowUp");
  await waitForPly(page, "3 / 6");
  await page.locator("body").press("ArrowDown");
  await waitForPly(page, "3 / 3");
  await page.reload();
  await ready(page);
  assert.equal(await transcript(page), "f5d6c3(c4)d3c4f4");
  assert.equal(await ply(page), "3 / 3");
  const other = await openPage(1280, 900, "light", new URL(page.url()).hash);
  assert.equal(await transcript(other), "f5d6c3(c4)d3c4f4");
  await other.context().close();
  await page.locator("#promote").click();
  await page.waitForFunction(() => document.querySelector("#transcript").value === "f5d6c4(c3d3c4f4)");
  await page.locator("#undo").click();
  await page.waitForFunction(() => document.querySelector("#transcript").value === "f5d6c3(c4)d3c4f4");
  await page.getByRole("button", { name: /^3\. black c4/ }).click();
  await page.locator("#delete-moves").click();
  await page.waitForFunction(() => document.querySelector("#transcript").value === "f5d6c3d3c4f4");
  await page.locator("#undo").click();
  await page.waitForFunction(() => document.querySelector("#transcript").value === "f5d6c3(c4)d3c4f4");
  await page.context().close();
}

/// Back returns to the previous game with its analysis; a reload keeps analysis and clocks.
async function testHistory() {
  const page = await openPage(1280, 900, "light");
  await paste(page, GAME);
  await waitForPly(page, "60 / 60");
  await page.locator("#tab-analysis").click();
  await page.locator("#analyze").click();
  await page.waitForSelector("#mistakes .summary");
  await page.waitForFunction(() => document.querySelectorAll("#moves .row-value").length === 60);
  await page.locator("#analyze").click(); // stop
  await page.waitForFunction(() => /kept|^Depth/.test(document.querySelector("#analysis-note").textContent));
  const values = await page.locator("#moves .row-value").allInnerTexts();
  await page.reload();
  await ready(page);
  assert.deepEqual(await page.locator("#moves .row-value").allInnerTexts(), values);
  await page.locator("#tab-game").click();
  await page.locator("#new").click();
  await waitForPly(page, "0 / 0");
  await page.goBack();
  await waitForPly(page, "60 / 60");
  assert.equal(await page.locator("#moves .row-value").count(), 60);
  await page.goForward();
  await waitForPly(page, "0 / 0");
  await page.locator("#nav-lab").click();
  await page.waitForSelector("#lab h1");
  await page.goBack();
  await page.waitForSelector("#play:not([hidden])");
  assert.equal(await ply(page), "0 / 0");
  // The last game is offered when the page is opened without a game.
  await page.locator("#tab-share").click();
  assert.ok(await page.locator("#recent button").count() >= 1);
  await page.context().close();
}

/// A side loses when its time is up; clocks have increments and survive a reload.
async function testClock() {
  const page = await openPage(1280, 900, "light", "#g=othello&you=white&with=random", (page) => page.clock.install());
  await page.waitForFunction(() => document.querySelector("#ply").textContent === "1 / 1");
  await page.selectOption("#clock", "3");
  // A new game starts, and the user's clock runs after the opponent's first move.
  await page.waitForFunction(() => /^2:5\d$/.test(document.querySelector("#player-bottom .time")?.textContent));
  await page.clock.runFor(60_000);
  await page.reload();
  await ready(page);
  assert.match(await page.locator("#player-bottom .time").innerText(), /^(1:5\d|2:0\d)$/);
  await page.clock.runFor(121_000);
  assert.match(await status(page), /White's time is up: black wins on time/);
  assert.equal(await page.locator("#board .cell.can").count(), 0);
  await page.context().close();
  const timed = await openPage(1280, 900, "light", "#g=othello&you=both", (page) => page.clock.install());
  await timed.selectOption("#clock", "3+2");
  await click(timed, "f5");
  await waitForPly(timed, "1 / 1");
  await click(timed, "d6");
  await waitForPly(timed, "2 / 2");
  await timed.clock.runFor(1_000);
  assert.match(await timed.locator("#player-top .time").innerText(), /^3:0\d$/); // two seconds more
  await timed.context().close();
}

/// A failed request is sent again and says so; a game goes on after the server was away.
async function testFailures() {
  const page = await openPage(1280, 900, "light", "#g=othello&with=random");
  let failures = 2;
  await page.route("**/api/move", (route) => (failures-- > 0 ? route.abort() : route.continue()));
  await click(page, "f5");
  await page.waitForSelector("#connection:not([hidden])");
  assert.match(await page.locator("#connection").innerText(), /No answer from the server/);
  await waitForPly(page, "2 / 2");
  await page.waitForSelector("#connection", { state: "hidden" });
  // The server refuses the opponent: the game can go on with another one.
  await page.unroute("**/api/move");
  await page.route("**/api/move", (route) => route.fulfill({ status: 400, contentType: "application/json", body: '{"error":"no such player"}' }));
  await page.locator("#board .cell.can").first().click();
  await page.waitForFunction(() => /did not move: no such player/.test(document.querySelector("#status").textContent));
  await page.unroute("**/api/move");
  await page.locator("#status").getByRole("button", { name: "Try again" }).click();
  await waitForPly(page, "4 / 4");
  await page.context().close();
}

/// An invalid game in the URL is reported, and a new game is shown.
async function testInvalidUrl() {
  const page = await openPage(1280, 900, "light", "#g=othello&m=f5d6zz");
  assert.match(await status(page), /Invalid game in the URL: move 3/);
  assert.equal(await page.locator("#board .cell.can").count(), 4);
  await page.context().close();
}

export async function testKeeping() {
  await testUndo();
  await testVariations();
  await testHistory();
  await testClock();
  await testFailures();
  await testInvalidUrl();
  console.log("nothing is lost: passed");
}
