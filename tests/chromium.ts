/** Chromium from the PATH, for browser tests. Without Chromium, the tests are skipped. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";

const executablePath = (process.env.PATH ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Whether Chromium is installed. */
export const hasChromium: boolean = executablePath !== undefined;
if (!hasChromium) console.log("There is no Chromium on the PATH: nothing is tried in a browser.");

/** Starts Chromium. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath!, chromiumSandbox: false }); // root can't use the sandbox
}
