/**
 * Runs `run.ts` on Deno, Bun and Node, one after the other, with the same arguments. `--on` selects a runtime.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { cases } from "./cases/mod.ts";
import { BENCH } from "./machine.ts";
import { findRuntimes } from "./peers/runtimes.ts";
import { RUNTIMES } from "./rows/row.ts";

const { values: { on, only, gc } } = parseArgs({
  options: { on: { type: "string" }, only: { type: "string" }, gc: { type: "boolean", default: false } },
});
if (on !== undefined && !RUNTIMES.some((runtime) => runtime === on)) {
  console.error(`--on must be one of ${RUNTIMES.join(", ")}, got ${on}`);
  Deno.exit(2);
}
const names = Object.entries(cases).flatMap(([group, ofGroup]) => [group, ...Object.keys(ofGroup)]);
if (only !== undefined && !names.some((name) => name.includes(only))) {
  console.error(`--only must be a part of one of ${names.map((name) => JSON.stringify(name)).join(", ")}, got ${only}`);
  Deno.exit(2);
}
const options = [...only === undefined ? [] : [`--only=${only}`], ...gc ? ["--gc"] : []];
for (const { name, version, command: [program, ...start] } of await findRuntimes()) {
  if (on !== undefined && name !== on) continue;
  console.log(`# ${version}\n`);
  const args = [...start, fileURLToPath(new URL("run.ts", import.meta.url)), ...options];
  const { success } = await new Deno.Command(program, { args, cwd: BENCH }).spawn().status;
  if (!success) Deno.exit(1);
}
