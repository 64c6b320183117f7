/** Tests of the memory that the command needs for long lists. */

import { assert, assertEquals } from "@std/assert";
import { Workspace } from "./cli.ts";

const LINES = 1_000_000;
/** Largest peak memory of the process, in KiB. */
const MOST = 200 * 1024;

/** Plugin that writes the peak memory of its process, in KiB, to the file `peak` when the process ends. */
const PLUGIN = `import { readFileSync, writeFileSync } from "node:fs";
  const peak = () => /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1];
  process.on("exit", () => writeFileSync("peak", peak()));
  export default ({ limiters }) =>
    limiters.register({ type: "none", description: "None.", options: {}, create: () => ({ when: () => 0 }) });`;

const ignore = Deno.build.os !== "linux"; // other systems have no /proc

/**
 * Runs the command with a list of a million lines. Fails if its peak memory is too large in each of three runs, because
 * a busy machine delays the garbage collection of a single run.
 */
async function runAll(workspace: Workspace, args: string[], report = ""): Promise<void> {
  workspace.write("plugin.mjs", PLUGIN);
  workspace.write("list", Array.from({ length: LINES }, (_, i) => `${urlOf(i)}\n`).join(""));
  const all = ["run", "--plugin", "plugin.mjs", "--input", "list", ...args];
  const peaks: number[] = [];
  do {
    workspace.write("report.jsonl", report);
    const { code, stderr } = await workspace.run(all, "", '"$@" > out');
    assertEquals(code, 0, stderr);
    peaks.push(Number(workspace.read("peak")));
  } while (peaks.at(-1)! >= MOST && peaks.length < 3);
  assert(peaks.at(-1)! < MOST, `${peaks.join(", ")} KiB`);
}

const urlOf = (i: number) => `https://example.com/items/${i}`;

Deno.test({
  name: "memory: --dry-run with a million lines takes less than 200 MiB",
  ignore,
  fn: async () => {
    await using workspace = new Workspace();
    await runAll(workspace, ["--dry-run", "--", "echo"]);
    assert(workspace.read("out").endsWith(`\necho ${urlOf(LINES - 1)}\n`));
  },
});

Deno.test({
  name: "memory: --resume with a million lines takes less than 200 MiB",
  ignore,
  fn: async () => {
    await using workspace = new Workspace();
    await workspace.run(["run", "--report", "report.jsonl", "--", "echo"], "first\n");
    const lines = Array.from({ length: LINES - 1 }, (_, i) => `{"item":"${urlOf(i)}","outcome":"succeeded"}\n`);
    const report = workspace.read("report.jsonl") + lines.join("");
    await runAll(workspace, ["--resume", "report.jsonl", "--", "echo"], report);
    assertEquals(workspace.read("out"), `${urlOf(LINES - 1)}\n`);
  },
});
