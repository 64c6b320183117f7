/** The browser that tests use: a Chromium on the PATH. Where there is none, they are left out. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";

const executablePath = (process.env.PATH ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Whether there is one. */
export const hasChromium: boolean = executablePath !== undefined;
if (!hasChromium) console.log("There is no Chromium on the PATH: nothing is tried in a browser.");

/** Starts it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath!, chromiumSandbox: false }); // root has none
}
