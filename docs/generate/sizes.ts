import { build, type BuildOptions, stop } from "esbuild";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOD = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/** Functions that a controller imports, without its limiter. */
export const CONTROLLER: readonly string[] = ["createRateLimitingQueue", "runWorkers"];

/** Functions that create a limiter of one type, which excludes the default limiters. */
const LIMITERS = [...new Set(readFileSync(MOD, "utf8").match(/\bcreate(?!Default)\w+Limiter\b/g))];

/** Targets, in kB. */
const [ALL, WORK_QUEUE, TYPICAL, LIMITER] = [10, 6.5, 15, 1];

/** Returns options that bundle a program which exports these names of the core, or all names, and nothing else. */
export function programOf(...names: string[]): BuildOptions {
  const what = names.length === 0 ? "*" : `{ ${names.join(", ")} }`;
  return {
    stdin: { contents: `export ${what} from ${JSON.stringify(MOD)};`, resolveDir: "." },
    ...{ bundle: true, minify: true, format: "esm", target: "es2022", write: false },
  };
}

/** Returns the size of a program that exports these names of the core, or all names, in gzipped bytes. */
export async function sizeOf(...names: string[]): Promise<number> {
  const { outputFiles } = await build(programOf(...names));
  await stop();
  return gzipSync(outputFiles![0]!.contents, { level: 9 }).length;
}

/** Returns the table of sizes, with the targets. */
export async function sizes(): Promise<string> {
  const without = await sizeOf(...CONTROLLER);
  const rows = [
    row("`mod.ts`", await sizeOf(), ALL),
    row("`createWorkQueue` alone", await sizeOf("createWorkQueue"), WORK_QUEUE),
    row("a typical controller", await sizeOf(...CONTROLLER, "createDefaultControllerLimiter"), TYPICAL),
  ];
  for (const limiter of LIMITERS) {
    rows.push(row(`\`${limiter}\` in addition`, await sizeOf(...CONTROLLER, limiter) - without, LIMITER));
  }
  return `\
# Sizes

Sizes of bundles, minified by esbuild and gzipped. Written by \`npx -y deno task generate\`, and checked by a test. A
typical controller imports a rate-limiting queue, the default limiter and workers. The size of a limiter is what it adds
to a bundle of a rate-limiting queue and workers. ✓ and ✗ show whether the exact size, before rounding, is within the
target.

| bundle | kB | target |
| --- | --- | --- |
${rows.join("\n")}
`;
}

/** Rounds to 0.1 kB, because versions of zlib differ by a few bytes. */
function row(name: string, bytes: number, target: number): string {
  const kB = bytes / 1000;
  return `| ${name} | ${kB <= target ? "✓" : "✗"} ${kB.toFixed(1)} | at most ${target} |`;
}
