import { assert, assertEquals, assertMatch } from "@std/assert";
import { ROOT } from "./cli.ts";

Deno.test("demo: it shows retries and folding, loses nothing and ends", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo"],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assertEquals(code, 0);

  const summary = new TextDecoder().decode(stderr);
  const count = (label: string) => Number(summary.match(new RegExp(`^${label} +(\\d+)$`, "m"))![1]);
  const files = count("Distinct items");
  assertEquals(count("Succeeded"), files);
  assert(count("Retries") > 0 && count("Duplicates folded") > 0);

  const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
  assertEquals(lines.length, files);
  for (const line of lines) assertMatch(line, /^[0-9a-f]{64} {2}\S/);
});
