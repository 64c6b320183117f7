import { works } from "./works.ts";

const FEW = 1000;

for (const [name, { contenders }] of Object.entries(works)) {
  if (/\d/.test(name)) continue; // a digit in the name: the work of another workload, with more items
  for (const [contender, prepare] of Object.entries(contenders)) {
    Deno.test(`bench: ${contender} does its work: ${name}`, async () => {
      const run = await prepare(contender === "bottleneck" ? 10 : FEW);
      await run();
      await run();
    });
  }
}
