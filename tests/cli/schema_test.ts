/** Tests of `workqueue schema`, which prints the JSON Schema for use in editors. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ROOT, someRuntimes, TELL_CODE, Workspace } from "./cli.ts";

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`schema, ${runtime}: it is the published schema, and with a plugin it has the plugin's types`, async () => {
    await using workspace = new Workspace(runtime);
    const published = Deno.readTextFileSync(`${ROOT}schema/workqueue.schema.json`);
    assertEquals(await workspace.run(["schema"]), { code: 0, stdout: published, stderr: "" });

    const plugin = `${ROOT}examples/linear_plugin.mjs`;
    const { code, stdout } = await workspace.run(["schema", "--plugin", plugin]);
    assertEquals([code, stdout.at(-1)], [0, "\n"]);
    const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(stdout));
    assert(isValid({ limiters: { a: { type: "linear", step: "30s" } } }));
    assertFalse(isValid({ limiters: { a: { type: "linear", step: 0 } } }));
  });
}

Deno.test("schema: it ends silently if its output is closed", async () => {
  await using workspace = new Workspace();
  const { stdout, stderr } = await workspace.run(["schema"], "", `{ "$@"; ${TELL_CODE}; } | head -n 1`);
  assertEquals([stdout, stderr, workspace.read("code")], ["{\n", "", "0\n"]);
});
