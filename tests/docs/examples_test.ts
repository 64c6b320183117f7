/** Tests of the examples that load and describe configs. Each example runs on the runtime that it is written for. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { configSchema } from "@workqueue/core/config";
import { Ajv2020 } from "ajv/dist/2020.js";
import fibonacci from "../../examples/fibonacci.json" with { type: "json" };
import workqueue from "../../examples/workqueue.json" with { type: "json" };
import { runScript, type Runtime, RUNTIMES } from "../run_script.ts";

function run(runtime: Runtime, example: string): Promise<string[]> {
  return runScript(runtime, new URL(`../../examples/${example}`, import.meta.url));
}

Deno.test("the configs in JSON, YAML and TOML build the same limiters and queues, on Deno and on Bun", async () => {
  const printed: Record<string, string[]> = {}; // output lines, by runtime and format
  for (const [runtime, example] of [["Deno", "load_config.ts"], ["Bun", "load_config_bun.ts"]] as const) {
    for (const line of await run(runtime, example)) {
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

for (const runtime of RUNTIMES) {
  Deno.test(`on ${runtime}, a plugin's registry prints a schema that knows its types`, async () => {
    const printed = (await run(runtime, "print_schema.ts")).join("\n");
    const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(printed));
    assert(isValid(fibonacci));
    assert(isValid(workqueue));
    assertFalse(isValid({ limiters: { a: { type: "fibonacci", unit: 0, maxDelay: 1 } } }));
    assertFalse(new Ajv2020({ strict: true }).compile(configSchema())(fibonacci));
  });
}
