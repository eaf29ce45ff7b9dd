// Helpers of the browser tests: pages, waiting, screenshots, accessibility.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const [url, executablePath, screenshots] = process.argv.slice(2);

// A complete game of 60 moves with mistakes.
export const GAME = "e6d6c6d7c8b6a6f3c5d8e8e7e3f8c4b8f7f6g3c3c2b5g6c1b4a3f5h6b3a4c7f4g5h5d3h3d2a5a2d1e1f1f2e2h4g4h7h8g7b7b2a1a7a8b1g1h1g2h2g8";

export const browser = await chromium.launch({
  executablePath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

export async function ready(page) { await page.waitForSelector("html[data-ready=yes]"); }

/// Opens a new page; script errors and requests to other servers fail the test.
export async function openPage(width, height, colorScheme, hash = "", prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", hasTouch: width < 600 });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => { throw error; });
  page.on("console", (line) => { if (line.type() === "error" && !/40\d|Failed to load resource/.test(line.text())) throw new Error(line.text()); });
  page.on("request", (request) => assert.match(request.url(), new RegExp(`^(${url}|data:|blob:)`)));
  await prepare(page);
  await page.goto(`${url}/${hash}`);
  await ready(page);
  return page;
}

export const screenshot = async (page, name) => { if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true }); };
export const status = (page) => page.locator("#status").innerText();
export const ply = (page) => page.locator("#ply").innerText();
export const waitForPly = (page, text) => page.waitForFunction((expected) => document.querySelector("#ply").textContent === expected, text);
export const click = (page, label) => page.getByLabel(`${label}, empty, legal move`).click();

export async function assertNoOverflow(page, name) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} pixels too wide`);
}

/// Imports pasted text.
export async function paste(page, text) {
  await page.locator("#tab-share").click();
  await page.fill("#paste", text);
  await page.locator("#open-text").click();
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/// Asserts that axe finds no violation of WCAG 2.1 A and AA or of its best practices.
export async function assertAccessible(page, name) {
  // The policy of the page allows no other scripts, so it is evaluated instead of loaded.
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] });
    return result.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
  });
  assert.deepEqual(found, [], name);
}

/// Returns the contrast ratio of two colors as WCAG 2.1 defines it.
export function contrast(a, b) {
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).slice(0, 3).map((text) => {
      const x = Number(text) / 255;
      return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
