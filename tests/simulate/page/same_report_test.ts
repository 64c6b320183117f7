/** Tests that a report has the same bytes on each runtime. Runs only on Deno and starts the other runtimes. */

import { assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { simulate } from "@workqueue/simulate";
import { bundleForBrowsers } from "../../../docs/playground/build.ts";
import { hasChromium, launchChromium, openPage } from "../../chromium.ts";
import { runtimes } from "../../runtimes.ts";
import { VARIED_CONFIG, VARIED_LOAD } from "../varied_load.ts";

const SCRIPT = new URL("print_report.ts", import.meta.url);

const expected = async () => JSON.stringify(await simulate(VARIED_CONFIG, VARIED_LOAD, { seed: 7 }));

async function outputOf([file, ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file!, args, { maxBuffer: 2 ** 24 });
  return stdout.trimEnd();
}

for (const name of ["Deno", "Bun"]) {
  Deno.test(`same report: the bytes are the same on ${name}`, async () => {
    assertEquals(await outputOf([...await runtimes[name]!(), fileURLToPath(SCRIPT)]), await expected());
  });
}

Deno.test("same report: the bytes are the same on Node", async () => {
  const folder = await Deno.makeTempDir({ prefix: "same_report_" });
  try {
    const file = `${folder}/report.mjs`; // a bundle, because some versions of Node can't run TypeScript
    await Deno.writeTextFile(file, await bundleForBrowsers(SCRIPT));
    assertEquals(await outputOf(["node", file]), await expected());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "same report: the bytes are the same in Chromium",
  ignore: !hasChromium,
  fn: async () => {
    const browser = await launchChromium();
    try {
      const page = await openPage(browser);
      const thrown = page.waitForEvent("pageerror").then((error) => Promise.reject(error));
      const printed = page.waitForEvent("console").then((message) => message.text());
      await page.addScriptTag({ type: "module", content: await bundleForBrowsers(SCRIPT) });
      assertEquals(await Promise.race([printed, thrown]), await expected());
    } finally {
      await browser.close();
    }
  },
});
