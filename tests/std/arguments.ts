import { readFileSync, renameSync, writeFileSync } from "node:fs";
import process from "node:process";

const ROOT = new URL("../../", import.meta.url);
/** JSR packages that have a stand-in in this folder. */
const STD = ["@std/assert", "@std/async", "@std/testing"];
const probe: string = "jsr:@std/assert@^1"; // a variable, so that this file loads even without the package

/** Whether JSR is reachable, so that the real `@std` packages can be used. */
export const isJsrReachable: boolean = await import(probe).then(() => true, () => false);

/**
 * Arguments of a `deno` command that runs or checks tests, in the root of the repository or of a copy of it. The
 * arguments name `deno.all.json`, in which `@std` refers to the stand-ins in this folder, and freeze its lock file. If
 * JSR is reachable, they instead name a generated config with the real packages and a copy of the lock file. Git
 * ignores both.
 */
export const testArguments: readonly string[] = argumentsWith("deno.all.lock");

/**
 * Arguments for the tests of the core. As soon as one package is imported, Deno downloads everything in the lock file.
 * The lock file of these tests lists only their imports, so that these tests start quickly even with an empty cache.
 * `docs/generate/core_lock.ts` generates this lock file.
 */
export const coreArguments: readonly string[] = argumentsWith("tests/core.lock");

function argumentsWith(lock: string): string[] {
  if (!isJsrReachable) return ["--config", "deno.all.json", "--lock", lock, "--frozen"];
  const copy = `deno.std.${lock.replace("/", ".")}`;
  replaceFile(copy, readFileSync(new URL(lock, ROOT), "utf8"));
  return ["--config", writeStdConfig(), "--lock", copy];
}

function writeStdConfig(): string {
  const config = JSON.parse(readFileSync(new URL("deno.all.json", ROOT), "utf8"));
  for (const name of Object.keys(config.imports)) if (name.startsWith("@std/")) delete config.imports[name];
  for (const name of STD) config.imports[name] = `jsr:${name}@^1`;
  replaceFile("deno.std.json", JSON.stringify(config, undefined, 2));
  return "deno.std.json";
}

/** Replaces a file atomically, because other processes may read it. */
function replaceFile(path: string, text: string): void {
  const copy = new URL(`${path}.${process.pid}`, ROOT);
  writeFileSync(copy, text);
  renameSync(copy, new URL(path, ROOT));
}
