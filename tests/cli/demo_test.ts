import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT } from "./cli.ts";

/** Lines of the list that the demo processes. */
const webhooks = Deno.readTextFileSync(`${ROOT}examples/webhooks.txt`).trimEnd().split("\n");

Deno.test("demo: it prints its command, retries and folds, loses nothing and ends", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "demo"],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assertEquals(code, 0);

  const said = new TextDecoder().decode(stderr);
  const shown = said.match(/^\$ workqueue run [^]+?[^\\]$/m)![0].split("\n").map((line) => line.trim());
  const picture = Deno.readTextFileSync(`${ROOT}docs/demo.svg`);
  for (const line of shown) assertStringIncludes(picture, `>${line}<`, "run 'deno task recording' again");

  const count = (label: string) => Number(said.match(new RegExp(`^${label} +(\\d+)$`, "m"))![1]);
  const distinct = [...new Set(webhooks)].sort();
  const down = distinct.filter((webhook) => webhook.startsWith("billing/"));
  assert(down.length > 0 && distinct.length < webhooks.length);
  assertEquals(count("Distinct items"), distinct.length);
  assertEquals(count("Duplicates folded"), webhooks.length - distinct.length);
  assertEquals(count("Succeeded"), distinct.length);
  assertEquals(count("Retries"), 4 * down.length);

  const delivered = new TextDecoder().decode(stdout).trimEnd().split("\n");
  const expected = distinct.map((webhook) => `delivered ${webhook}${down.includes(webhook) ? " (attempt 5)" : ""}`);
  assertEquals(delivered.sort(), expected.sort());
});
