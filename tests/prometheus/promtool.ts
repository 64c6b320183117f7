/** Runs promtool, which checks and tests rules for Prometheus. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { onPath } from "../keeper.ts";

/** Path of promtool; `undefined` if it is not installed. */
export const PROMTOOL = onPath("promtool");
if (PROMTOOL === undefined) console.log("There is no promtool on the PATH: leaving out the tests of the rules.");

/** Runs `promtool check rules` or `promtool test rules`. Returns its output. Throws its output if it fails. */
export async function promtool(command: "check" | "test", file: string | object): Promise<string> {
  if (typeof file === "object") {
    return await withFile(stringify(file, { lineWidth: 0 }), (path) => promtool(command, path));
  }
  try {
    return (await promisify(execFile)(PROMTOOL!, [command, "rules", file])).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${command} rules failed: ${stdout}${stderr}`, { cause: error });
  }
}

async function withFile<Result>(text: string, use: (path: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "workqueue_"));
  try {
    const path = join(folder, "rules.yml");
    writeFileSync(path, text);
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
