import { deepEqual } from "node:assert/strict";
import { readdirSync } from "node:fs";
import { cases } from "./cases/mod.ts";
import { distinctKeys } from "./keys.ts";

const FEW_KEYS = distinctKeys(300);

for (const [group, ofGroup] of Object.entries(cases)) {
  for (const [name, prepare] of Object.entries(ofGroup)) {
    Deno.test(`bench: ${name} runs: ${group}`, async () => {
      const run = prepare(FEW_KEYS);
      await run();
      await run();
    });
  }
}

Deno.test("bench: `deno bench` has each case once, and the first of a group is its baseline", async () => {
  const registered: string[] = [];
  const { bench } = Deno;
  Object.assign(Deno, {
    bench(name: string, { group, baseline }: { group: string; baseline: boolean }): void {
      registered.push(JSON.stringify({ group, name, baseline }));
    },
  });
  try {
    const files = readdirSync(new URL(".", import.meta.url)).filter((file) => file.endsWith("_bench.ts"));
    for (const file of files) await import(`./${file}`);
  } finally {
    Object.assign(Deno, { bench });
  }
  const expected = Object.entries(cases).flatMap(([group, ofGroup]) =>
    Object.keys(ofGroup).map((name, i) => JSON.stringify({ group, name, baseline: i === 0 }))
  );
  deepEqual(registered.sort(), expected.sort());
});
