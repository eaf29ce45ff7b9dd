// Tests of the board's view, the position editor, watching, the keyboard, imports, contrast and accessibility.

import assert from "node:assert/strict";
import { assertAccessible, assertNoOverflow, click, contrast, GAME, openPage, paste, ply, screenshot, status, waitForPly } from "./support.mjs";

const labels = (page) => page.locator("#board .cell").evaluateAll((cells) => cells.map((cell) => cell.getAttribute("aria-label").slice(0, 2)));

/// Flip and rotate turn squares and coordinates together.
async function testView() {
  const page = await openPage(1280, 900, "light");
  const start = await labels(page);
  assert.deepEqual([start[0], start[7], start[56], start[63]], ["a1", "h1", "a8", "h8"]);
  await page.locator("#flip").click();
  const flipped = await labels(page);
  assert.deepEqual([flipped[0], flipped[7], flipped[56], flipped[63]], ["h8", "a8", "h1", "a1"]);
  await page.locator("body").press("r");
  const turned = await labels(page);
  assert.equal(new Set(turned).size, 64);
  const corners = [turned[0], turned[7], turned[63], turned[56]];
  assert.ok(["a8", "h1"].includes(corners[0]), corners.join());
  // The texts at the edge name the rows and columns of the squares beside them.
  const edges = await page.locator("#coords span").allInnerTexts();
  for (let i = 0; i < 8; i++) {
    assert.ok(turned[i].includes(edges[2 * i]), `${turned[i]} ${edges[2 * i]}`);
    assert.ok(turned[8 * i].includes(edges[2 * i + 1]), `${turned[8 * i]} ${edges[2 * i + 1]}`);
  }
  await page.locator("body").press("f");
  await page.locator("#rotate").click();
  await page.locator("#board .cell.can").first().click(); // squares still play
  await waitForPly(page, "2 / 2");
  await page.context().close();
}

/// A position is set up, rejected while it is not playable, and played.
async function testEditor() {
  const page = await openPage(1280, 900, "light");
  await click(page, "f5");
  await waitForPly(page, "2 / 2");
  await page.locator("#edit").click();
  await page.locator("#editor-clear").click();
  await page.locator("#editor-use").click();
  await page.waitForFunction(() => document.querySelector("#editor-error").textContent.length > 10);
  const put = async (tool, squares) => {
    await page.locator("label", { hasText: tool }).locator("input[name=editor-tool]").check({ force: true });
    for (const square of squares) await page.getByLabel(new RegExp(`^${square}, `)).click();
  };
  await put("White", ["d4", "e4"]);
  await put("Black", ["c4"]);
  await page.locator("input[name=editor-side][value=black]").check({ force: true });
  assert.match(await page.locator("#editor-count").innerText(), /Black 1, White 2, empty 61/);
  await page.locator("#editor-use").click();
  await page.waitForSelector("#editor", { state: "hidden" });
  assert.equal(await page.locator("#board .cell.can").count(), 1);
  await click(page, "f4");
  await page.waitForFunction(() => /Black wins/.test(document.querySelector("#status").textContent));
  await page.locator("#undo").click();
  await page.locator("#undo").click(); // the game before the position
  await waitForPly(page, "2 / 2");
  await page.context().close();
}

/// Two programs play, and the user watches.
async function testWatching() {
  const page = await openPage(1280, 900, "light", "#g=othello&with=random");
  await page.locator("label", { hasText: "None" }).last().click();
  await page.selectOption("#black-player", "heuristic");
  await page.waitForFunction(() => Number(document.querySelector("#ply").textContent.split(" / ")[1]) >= 4);
  assert.equal(await page.locator("#board .cell.can").count(), 0);
  await page.locator("#first").click(); // the game waits while the user looks at earlier positions
  await page.waitForFunction(() => document.querySelector("#ply").textContent.startsWith("0 /"));
  await page.context().close();
}

/// Everything that people paste is read.
async function testPasting() {
  const page = await openPage(1280, 900, "light");
  const pgn = '[Event "Cup"]\n[White "Ben"]\n[Black "Ada"]\n[Result "*"]\n\n1. f5 d6 {best} 2. c3 d3 *';
  const ggf = "(;GM[Othello]PB[Ada]PW[Ben]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6]B[c3]W[d3];)";
  for (const text of ["f5d6c3d3", "F5 D6 C3 D3", "1. f5 d6 2. c3 d3", "1. f5 d6\n2. c3 d3", pgn, ggf, "https://example.org/#g=othello&m=f5d6c3d3&you=both"]) {
    await page.locator("#tab-game").click();
    await page.locator("#new").click();
    await waitForPly(page, "0 / 0");
    await paste(page, text);
    await waitForPly(page, "4 / 4");
    assert.equal(await page.inputValue("#transcript"), "f5d6c3d3", text);
    if (text.includes("Ada")) assert.match(await page.locator("#player-bottom").innerText(), /Ada/);
  }
  const cells = "---------------------------OX------XXX--------------------------";
  for (const text of [`${cells} O`, `${cells} O; f6:+2`, `${cells} O:`]) { // a board, OBF, a transcript without moves
    await paste(page, text);
    await page.waitForFunction((expected) => document.querySelector("#position-text").value === expected, `${cells} O`);
    await paste(page, "f5d6c3d3");
    await waitForPly(page, "4 / 4");
  }
  await paste(page, "f5d6c3(c4d3)d3");
  await page.waitForSelector("#moves .variation");
  // Errors name the move in the user's words.
  for (const [text, error] of [["1. f5 d6 2. a1", /move 3/], ["hello", /format|no game/i], ["f5d6c3(c4", /parenthesis/]]) {
    await paste(page, text);
    await page.waitForFunction(() => document.querySelector("#open-error").textContent.length > 5);
    assert.match(await page.locator("#open-error").innerText(), error);
  }
  await page.context().close();
}

/// Marks on the board have a contrast of at least 3:1, texts on it 4.5:1.
async function testContrast(scheme) {
  const page = await openPage(1280, 900, scheme);
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await page.waitForSelector("#board .value.best");
  await page.waitForSelector("#board .probability");
  // In one step, because the hints are drawn again with every depth.
  const style = (selector, name) => page.evaluate(([at, key]) => getComputedStyle(document.querySelector(at))[key], [selector, name]);
  const colors = (await style("#board .cell", "backgroundImage")).match(/rgb\([^)]*\)/g);
  assert.equal(colors.length, 2);
  for (const felt of colors) {
    assert.ok(contrast(felt, await style("#board .value", "color")) >= 4.5);
    assert.ok(contrast(felt, await style("#board .probability", "color")) >= 4.5);
    assert.ok(contrast(felt, await style("#board .disc.white", "backgroundColor")) >= 3);
    // Black discs have a light edge, which is the first shadow.
    const edge = (await style("#board .disc.black", "boxShadow")).match(/rgb\([^)]*\)/)[0];
    assert.ok(contrast(await style("#board .disc.black", "backgroundColor"), edge) >= 3);
  }
  await page.locator("label.switch", { hasText: "Evaluation" }).click();
  await page.locator("label.switch", { hasText: "Expert" }).click();
  await page.waitForSelector("#board .dot");
  for (const felt of colors) assert.ok(contrast(felt, await style("#board .dot", "backgroundColor")) >= 3);
  await page.context().close();
}

/// The page works by keyboard alone: move, review, analyze, help.
async function testKeyboard() {
  const page = await openPage(1280, 900, "light");
  await page.locator("#board .cell.can").first().focus();
  await page.keyboard.press("Enter");
  await waitForPly(page, "2 / 2");
  await page.locator("body").press("Home");
  await waitForPly(page, "0 / 2");
  await page.locator("body").press("End");
  await waitForPly(page, "2 / 2");
  await page.locator("body").press("?");
  await page.waitForSelector("#shortcuts-dialog[open]");
  await page.keyboard.press("Escape");
  await page.locator("#tab-game").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#tab-analysis").getAttribute("aria-selected"), "true");
  assert.equal(await ply(page), "2 / 2"); // the arrow key moved between tabs only
  assert.match(await status(page), /Your move/);
  await page.context().close();
}

/// From phones to large screens, light and dark: nothing is too wide, axe finds nothing.
async function testSizes() {
  for (const [width, height, scheme] of [[390, 844, "light"], [390, 844, "dark"], [1440, 900, "light"], [1440, 900, "dark"], [2560, 1440, "light"]]) {
    const name = `${width}-${scheme}`;
    const page = await openPage(width, height, scheme);
    await assertAccessible(page, `${name} start`);
    await assertNoOverflow(page, name);
    await paste(page, GAME);
    await waitForPly(page, "60 / 60");
    await assertAccessible(page, `${name} import`);
    await page.locator("#tab-analysis").click();
    await page.locator("#analyze").click();
    await page.waitForFunction(() => /^Depth/.test(document.querySelector("#analysis-note").textContent));
    await page.locator("#back").click();
    await waitForPly(page, "59 / 60");
    await assertAccessible(page, `${name} analysis`);
    await assertNoOverflow(page, `${name} analysis`);
    await screenshot(page, `${name}-analysis`);
    await page.locator("#tab-openings").click();
    await page.waitForSelector("#opening .name");
    await assertAccessible(page, `${name} openings`);
    await page.locator("#edit").click();
    await assertAccessible(page, `${name} editor`);
    await assertNoOverflow(page, `${name} editor`);
    await page.locator("#nav-lab").click();
    await page.waitForSelector("#lab h1");
    await assertAccessible(page, `${name} lab`);
    await page.context().close();
  }
}

export async function testTools() {
  await testView();
  await testEditor();
  await testWatching();
  await testPasting();
  await testContrast("light");
  await testContrast("dark");
  await testKeyboard();
  console.log("tools: passed");
  await testSizes();
  console.log("sizes and accessibility: passed");
}
export { testView, testEditor, testWatching, testPasting, testContrast, testKeyboard, testSizes };
