/** Facts about this machine, and functions that start programs. */

import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

/** Folder of the benchmarks, in which their npm packages are installed. */
export const BENCH: string = fileURLToPath(new URL(".", import.meta.url));

/** Deno config with the import map for the benchmarks. */
export const CONFIG: string = fileURLToPath(new URL("../deno.all.json", import.meta.url));

/** Describes the machine for a report. */
export function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus()[0]!.model.trim()}, ${cpus().length} cores, ${memory} GiB, ${Deno.build.os}`;
}

/**
 * Runs a program until it ends, with further environment variables. Returns its output; `undefined` if the program is
 * not installed.
 */
export async function output(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string | undefined> {
  let result;
  try {
    result = await new Deno.Command(command, { args: [...args], cwd, env, stdout: "piped", stderr: "piped" }).output();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!result.success) {
    throw new Error(`${command} ${args.join(" ")} failed:\n${text(result.stdout)}${text(result.stderr)}`);
  }
  return text(result.stdout).trim();
}

/** Installs the packages of the benchmarks and returns the path of Bun's executable. */
export async function findBun(): Promise<string> {
  await output("npx", ["-y", "bun@1", "install", "--no-save", "--silent"], BENCH);
  return (await output("npx", ["-y", "bun@1", "-e", "console.log(process.execPath)"], BENCH))!;
}
