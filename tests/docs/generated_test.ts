/** Tests that the generated files are up to date. */

import { assert, assertEquals } from "@std/assert";
import { schemaUrl } from "../../docs/generate/config_reference.ts";
import { files } from "../../docs/generate/files.ts";

const root = new URL("../../", import.meta.url);

for (const [path, make] of Object.entries(files)) {
  Deno.test(`${path} is the output of 'deno task generate'`, async () => {
    assertEquals(await Deno.readTextFile(new URL(path, root)), await make());
  });
}

Deno.test("the README has the path of the schema in a clone, and the page on checks has the future address of the schema of this version", async () => {
  assert((await Deno.readTextFile(new URL("README.md", root))).includes('"$schema": "./schema/workqueue.schema.json"'));
  assert((await Deno.readTextFile(new URL("docs/config/check.md", root))).includes(`\`${schemaUrl()}\`.\n`));
});
