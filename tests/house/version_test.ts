/** Tests that the packages of this repository reject a core of another version. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { packageFolders } from "../../docs/generate/all_packages.ts";
import { VERSION } from "../../lib/base/version.ts";
import { codeOf } from "../helpers.ts";
import { entriesOf } from "../../release/entries.ts";
import { loadWithCore } from "../second_copy.ts";

const root = new URL("../../", import.meta.url);

for (const folder of packageFolders()) {
  const { name, exports } = JSON.parse(Deno.readTextFileSync(new URL(`${folder}/deno.json`, root)));
  const entries = Object.values(entriesOf(exports));
  const module = `${folder}/core_version.ts`;

  Deno.test(`${name}: a core of the same version is accepted, and one of another version refused with WQ_VERSION`, async () => {
    await loadWithCore(module, VERSION);
    const error = await assertRejects(() => loadWithCore(module, "0.0.1"), Error);
    assertEquals(codeOf(error), "WQ_VERSION");
    assertEquals(
      error.message,
      `Cannot load ${name} ${VERSION}: it needs @workqueue/core ${VERSION}, and found 0.0.1. Install the same version of both`,
    );
  });

  Deno.test(`${name}: it checks the version of the core before it loads anything else of the core`, async () => {
    const read = (file: string) => Deno.readTextFile(new URL(`${folder}/${file}`, root));
    if (name === "@workqueue/cli") {
      assertMatch(
        await read("main.ts"),
        /\.hook\("preAction", async \(\) => void await import\("\.\/core_version\.ts"\)\)/,
      );
    } else {
      for (const entry of entries) {
        assertMatch(await read(entry), /^\/\*\*[^]*?\*\/\s+import "\.\.?\/core_version\.ts";/, entry);
      }
    }
  });
}
