/** The examples that load and describe configs, run by the runtimes that they are for. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { configSchema } from "@workqueue/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import jitter from "../../examples/jitter.json" with { type: "json" };
import workqueue from "../../examples/workqueue.json" with { type: "json" };
import { runtimes } from "../runtimes.ts";

async function run(runtime: string, example: string): Promise<string> {
  const [file, ...options] = await runtimes[runtime]!();
  const script = fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));
  const { stdout } = await promisify(execFile)(file!, [...options, script]);
  return stdout;
}

Deno.test("the configs in JSON, YAML and TOML build the same limiters and queues, on Deno and on Bun", async () => {
  const printed: Record<string, string[]> = {}; // by runtime and format
  for (const [runtime, example] of [["Deno", "load_config.ts"], ["Bun", "load_config_bun.ts"]] as const) {
    for (const line of (await run(runtime, example)).trim().split("\n")) {
      const [format, ...rest] = line.split(": ");
      (printed[`${runtime}: ${format}`] ??= []).push(rest.join(": "));
    }
  }
  const [first, ...others] = Object.values(printed);
  const named = (kind: string, section: object) => Object.keys(section).map((name) => `${kind} ${name}`);
  const expected = [...named("limiter", workqueue.limiters), ...named("queue", workqueue.queues)];
  assertEquals(first!.map((line) => line.split(":")[0]), expected);
  assertEquals(first![0]!.split(": ")[1]!.split(" ").slice(0, 3), ["250", "500", "1000"]);
  assertEquals(others, Array(5).fill(first));
});

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`on ${runtime}, a plugin's registry prints a schema that knows its types`, async () => {
    const isValid = new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(await run(runtime, "print_schema.ts")));
    assert(isValid(jitter));
    assert(isValid(workqueue));
    assertFalse(isValid({ limiters: { a: { type: "jitter", limiter: "b", part: 2 } } }));
    assertFalse(new Ajv2020({ allowUnionTypes: true }).compile(configSchema())(jitter));
  });
}
