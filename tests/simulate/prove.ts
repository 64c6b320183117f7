/**
 * Compares simulated queues with queueing theory: `deno task prove [--customers 2000000] [--only M/M/1]`. Exits with 1
 * if a mean wait is out of bounds.
 *
 * @module
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { type Cell, cells, measure } from "./theory.ts";

const { values } = parseArgs({
  options: { customers: { type: "string", default: "2000000" }, only: { type: "string", default: "" } },
});

/** Reports whether few customers of a cell wait. The mean of two million waits would be off by up to 3 % by chance. */
function hasShortWaits({ waits }: Cell): boolean {
  return Math.min(...waits) < 2;
}

let isProven = true;
console.log("| queue | bound | theory | simulation | error | Little |\n| --- | --- | --- | --- | --- | --- |");
for (const cell of cells.filter(({ name }) => name.includes(values.only))) {
  const { waits, little } = await measure(cell, Number(values.customers) * (hasShortWaits(cell) ? 6 : 1));
  const errors = waits.map((wait, i) => wait / cell.waits[i]! - 1);
  const isWrong = (wait: number, i: number) =>
    Math.abs(wait - cell.waits[i]!) > Math.max(cell.bound * cell.waits[i]!, 0.01);
  if (waits.some(isWrong) || Math.abs(little - 1) > 1e-9) isProven = false;
  const list = (numbers: readonly number[]) => numbers.map((number) => number.toFixed(1)).join(", ");
  const percent = errors.map((error) => `${(100 * error).toFixed(2)} %`).join(", ");
  const bound = `${100 * cell.bound} %`;
  console.log(
    `| ${cell.name} | ${bound} | ${list(cell.waits)} ms | ${list(waits)} ms | ${percent} | ${little.toFixed(9)} |`,
  );
}
process.exit(isProven ? 0 : 1);
