import { assert } from "@std/assert";
import { type Cell, cells, measure } from "./theory.ts";

const CUSTOMERS = 200_000;

for (const name of ["M/M/1, utilization 0.8", "M/M/8, utilization 0.8", "M/D/1, utilization 0.8"]) {
  Deno.test(`rule 20: the mean wait matches queueing theory: ${name}`, async () => {
    const cell: Cell = cells.find((cell) => cell.name === name)!;
    const { waits: [wait], little } = await measure(cell, CUSTOMERS);
    assert(Math.abs(wait! / cell.waits[0]! - 1) < 0.05, `${wait} ms instead of ${cell.waits[0]}`);
    assert(Math.abs(little - 1) < 0.01, `Little's law: ${little}`);
  });
}
