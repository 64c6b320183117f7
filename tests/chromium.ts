/**
 * Chromium from the PATH, for browser tests. Without Chromium, the tests are skipped. The headless shell comes first,
 * because it draws the same pages in 60 % of the time.
 */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type Browser, chromium, type Page } from "playwright-core";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const folders = (process.env.PATH ?? "").split(delimiter);
const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

/** Whether Chromium is installed. */
export const hasChromium: boolean = executablePath !== undefined;
if (!hasChromium) console.log("There is no Chromium on the PATH: nothing is tried in a browser.");

/** Longest time, in milliseconds, that a page waits for anything. By default, it is too short for a busy machine. */
const PATIENCE = 120_000;

/** Returns a new page. */
export async function openPage(browser: Browser, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE);
  return page;
}

/** Starts Chromium. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath!, chromiumSandbox: false }); // root can't use the sandbox
}
