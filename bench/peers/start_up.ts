/** Start-up: how much longer a process takes if it imports the main entry. */

import { fileURLToPath } from "node:url";
import { joinModules } from "../../release/joined.ts";
import { BENCH, output } from "../machine.ts";
import { inTurns } from "../rows/turns.ts";
import { medianOf } from "../statistics.ts";
import type { Runtime } from "./runtimes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Number of processes of each kind. */
const PROCESSES = 15;

/**
 * Returns by how many milliseconds a process with the main entry takes longer than one with an empty module. The main
 * entry is measured in TypeScript, as in a clone and on JSR, and in JavaScript, as npm installs it.
 */
export async function measureStartUp(runtime: Runtime): Promise<Readonly<Record<string, number>>> {
  const folder = await Deno.makeTempDir({ prefix: "start-up-" });
  try {
    await joinModules(ROOT, folder);
    const program = async (name: string, code: string) => {
      await Deno.writeTextFile(`${folder}/${name}`, code);
      return { path: `${folder}/${name}`, times: [] as number[] };
    };
    const empty = await program("empty.js", "");
    const inTypeScript = await program("typescript.js", `import ${JSON.stringify(`${ROOT}mod.ts`)};`);
    const inJavaScript = await program("javascript.js", 'import "./mod.js";');
    const programs = [empty, inTypeScript, inJavaScript];
    for (const { path } of programs) await run(runtime, path); // fills the caches of the runtime
    for (let round = 0; round < PROCESSES; round++) {
      for (const { path, times } of inTurns(programs, round)) times.push(await run(runtime, path));
    }
    const longerThanEmpty = ({ times }: typeof empty) => medianOf(times.map((time, i) => time - empty.times[i]!));
    return { "in TypeScript": longerThanEmpty(inTypeScript), "in JavaScript": longerThanEmpty(inJavaScript) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a program until it ends. Returns the time that this took, in milliseconds. */
async function run({ name, command: [runtime] }: Runtime, path: string): Promise<number> {
  const options = name === "deno" ? ["run", "--no-config", "--no-check"] : [];
  const began = performance.now();
  await output(runtime, [...options, path], BENCH);
  return performance.now() - began;
}
