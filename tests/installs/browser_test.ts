/**
 * Test of the bundled package in a browser page. The test runs only on Deno, which packs the package. The test is
 * skipped without Chromium on the PATH.
 */

import { assertEquals } from "@std/assert";
import type { Browser } from "playwright-core";
import { bundle } from "../bundle.ts";
import { hasChromium, launchChromium, openPage } from "../chromium.ts";
import { expectedFindings, Project } from "./project.ts";

/** Loads a module in an empty page and waits until it has printed a line. */
async function printedBy(browser: Browser, script: string): Promise<string> {
  const page = await openPage(browser);
  const thrown = page.waitForEvent("pageerror").then((error) => Promise.reject(error));
  const printed = page.waitForEvent("console").then((message) => message.text());
  await page.addScriptTag({ type: "module", content: script });
  return await Promise.race([printed, thrown]);
}

Deno.test({
  name: "browser: the tarball, bundled by esbuild, runs in Chromium",
  ignore: !hasChromium,
  fn: async () => {
    using project = new Project();
    await project.npmInstall();
    project.writeConsumer();
    const script = new TextDecoder().decode(await bundle({ entryPoints: [project.path("main.ts")] }));

    const browser = await launchChromium();
    try {
      assertEquals(JSON.parse(await printedBy(browser, script)), await expectedFindings());
    } finally {
      await browser.close();
    }
  },
});
