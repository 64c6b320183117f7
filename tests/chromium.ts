/**
 * Chromium from the PATH, for browser tests. Without Chromium, the tests are skipped. The headless shell comes first,
 * because it draws the same pages in 60 % of the time.
 */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const folders = (process.env.PATH ?? "").split(delimiter);
const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

/** Whether Chromium is installed. */
export const hasChromium: boolean = executablePath !== undefined;
if (!hasChromium) console.log("There is no Chromium on the PATH: nothing is tried in a browser.");

/** Starts Chromium. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath!, chromiumSandbox: false }); // root can't use the sandbox
}
