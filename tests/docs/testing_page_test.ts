/**
 * Tests of the tests shown in `docs/testing.md`. The tests shown must pass under their test runners, and must fail if
 * retries come later than expected. `check.ts` checks the types of the module and of its test on Deno.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { build, stop } from "esbuild";
import { fileURLToPath } from "node:url";
import { NPM, ROOT, run } from "../../release/commands.ts";
import { runtimes } from "../runtimes.ts";
import { testArguments } from "../std/arguments.ts";
import { filesShownIn } from "./markdown.ts";

const files = filesShownIn(await Deno.readTextFile(new URL("docs/testing.md", ROOT)));
const DELIVERY = "delivery.ts";

/** Functions, one for each test runner, that run a test file in a folder. The functions reject if a test fails. */
const tools: Record<string, (folder: string, file: string) => Promise<unknown>> = {
  "deno_test.ts": (folder, file) => deno("test", "--no-check", `${folder}/${file}`),
  "vitest.test.ts": (folder, file) => npx(folder, "vitest@4", "run", file),
  "bun.test.ts": async (folder, file) => await run((await runtimes["Bun"]!())[0]!, ["test", file], folder),
  "node.test.ts": (folder, file) => npx(folder, "node@22", "--test", file),
  "sinon.test.ts": (folder, file) => npx(folder, "node@22", "--test", file),
};

/** Packages from npm that a test file imports. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = { "sinon.test.ts": ["@sinonjs/fake-timers@15"] };

function deno(command: string, ...args: string[]): Promise<unknown> {
  return run(Deno.execPath(), [command, ...testArguments, ...args], ROOT);
}

function npx(folder: string, ...args: string[]): Promise<unknown> {
  return run(NPM, ["exec", "--yes", "--", ...args], folder);
}

/** Creates a folder with an installed `@workqueue/core` and with the module that the page's tests cover. */
async function makeProject(delivery: string, packages: readonly string[] = []): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
  await Deno.writeTextFile(`${folder}/package.json`, '{ "type": "module" }');
  if (packages.length > 0) await run(NPM, ["install", "--no-save", ...packages], folder);
  const installed = `${folder}/node_modules/@workqueue/core`;
  await Deno.mkdir(installed, { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("mod.ts", ROOT))],
    bundle: true,
    format: "esm",
    outfile: `${installed}/index.js`,
  });
  await stop();
  const manifest = { name: "@workqueue/core", version: "0.1.0", type: "module", exports: "./index.js" };
  await Deno.writeTextFile(`${installed}/package.json`, JSON.stringify(manifest));
  for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
  await Deno.writeTextFile(`${folder}/${DELIVERY}`, delivery);
  return folder;
}

Deno.test("docs/testing.md: there is a test for each tool, and the module that it tests", () => {
  assertEquals([...files.keys()].sort(), [DELIVERY, ...Object.keys(tools)].sort());
});

for (const [file, runTest] of Object.entries(tools)) {
  Deno.test(`docs/testing.md: ${file} passes, and notices a wrong delay`, async () => {
    const delivery = files.get(DELIVERY)!;
    const slower = delivery.replace('baseDelay: "1s"', 'baseDelay: "1001ms"');
    assert(slower !== delivery);
    const folders = [await makeProject(delivery, PACKAGES[file]), await makeProject(slower, PACKAGES[file])] as const;
    try {
      await runTest(folders[0], file);
      await assertRejects(() => runTest(folders[1], file), Error, "failed");
    } finally {
      for (const folder of folders) await Deno.remove(folder, { recursive: true });
    }
  });
}
