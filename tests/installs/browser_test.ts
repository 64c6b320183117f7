/** The package in a page, bundled. Only on Deno, which packs it; left out where there is no Chromium on the PATH. */

import { assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { bundle } from "../bundle.ts";
import { expectedFindings, Project } from "./project.ts";

const executablePath = (Deno.env.get("PATH") ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((path) => existsSync(path));
if (executablePath === undefined) console.log("There is no Chromium on the PATH: nothing is tried in a browser.");

/** Runs a module in an empty page until it has printed a line. */
async function printedBy(browser: Browser, script: string): Promise<string> {
  const page = await browser.newPage();
  const thrown = page.waitForEvent("pageerror").then((error) => Promise.reject(error));
  const printed = page.waitForEvent("console").then((message) => message.text());
  await page.addScriptTag({ type: "module", content: script });
  return await Promise.race([printed, thrown]);
}

Deno.test({
  name: "browser: the tarball, bundled by esbuild, runs in Chromium",
  ignore: executablePath === undefined,
  fn: async () => {
    using project = new Project();
    await project.npmInstall();
    project.writeConsumer();
    const script = new TextDecoder().decode(await bundle({ entryPoints: [project.path("main.ts")] }));

    const browser = await chromium.launch({ executablePath: executablePath!, chromiumSandbox: false }); // root has none
    try {
      assertEquals(JSON.parse(await printedBy(browser, script)), await expectedFindings());
    } finally {
      await browser.close();
    }
  },
});
