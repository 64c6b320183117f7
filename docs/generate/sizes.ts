import { build, type BuildOptions, type Plugin, stop } from "esbuild";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { typeCosts } from "./type_cost.ts";

const MOD = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/** Functions that a controller imports, without its limiter. */
export const CONTROLLER: readonly string[] = ["createRateLimitingQueue", "runWorkers"];

/** Functions that create a limiter of one type, which excludes the default limiters. */
const LIMITERS = [...new Set(readFileSync(MOD, "utf8").match(/\bcreate(?!Default)\w+Limiter\b/g))];

/** Registry of the limiters of a small document. */
const REGISTRY = ["limiterRegistry", "exponential", "bucket"];

/** Targets, in kB. */
const [WORK_QUEUE, TYPICAL, LIMITER, BUCKET, SOME_TYPES, ALL_TYPES] = [5, 15, 1, 2.2, 25, 38];

/** Returns options that bundle a program which exports these names of the core, or all names, and nothing else. */
export function programOf(...names: string[]): BuildOptions {
  const what = names.length === 0 ? "*" : `{ ${names.join(", ")} }`;
  return {
    stdin: { contents: `export ${what} from ${JSON.stringify(MOD)};`, resolveDir: "." },
    ...{ bundle: true, minify: true, format: "esm", target: "es2022", write: false },
  };
}

/** Returns the size of a program that exports these names of the core, in gzipped bytes. */
export async function sizeOf(...names: string[]): Promise<number> {
  const [size] = await sizesOf([names]);
  return size!;
}

/** Returns the sizes of programs that export some names each. One build reads each module only once. */
async function sizesOf(programs: readonly (readonly string[])[]): Promise<number[]> {
  const { stdin: _, ...options } = programOf();
  const plugin: Plugin = {
    name: "programs",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^program:/ }, ({ path }) => ({ path, namespace: "program" }));
      onLoad({ filter: /.*/, namespace: "program" }, ({ path }) => {
        return programOf(...programs[Number(path.slice("program:".length))]!).stdin;
      });
    },
  };
  const entryPoints = programs.map((_, i) => ({ in: `program:${i}`, out: `${i}` }));
  const { outputFiles } = await build({ ...options, entryPoints, outdir: "out", plugins: [plugin] });
  await stop();
  const bytes = new Map(outputFiles!.map(({ path, contents }) => [basename(path, ".js"), contents]));
  return programs.map((_, i) => gzipSync(bytes.get(`${i}`)!, { level: 9 }).length);
}

/** Returns the page of sizes: of typical programs with targets, and of each name alone; and the cost of type checks. */
export async function sizes(): Promise<string> {
  const names = Object.keys(await import("../../mod.ts")).sort();
  const bytes = await sizesOf([
    CONTROLLER,
    ["createWorkQueue"],
    [...CONTROLLER, "createDefaultControllerLimiter"],
    ["loadConfigWith", ...REGISTRY],
    ["loadConfig"],
    ...LIMITERS.map((limiter) => [...CONTROLLER, limiter]),
    ...names.map((name) => [name]),
  ]);
  const [without, workQueue, typical, someTypes, allTypes] = bytes as [number, number, number, number, number];
  const withLimiters = bytes.slice(-names.length - LIMITERS.length, -names.length);
  const rows = [
    row("`createWorkQueue` alone", workQueue, WORK_QUEUE),
    row("a typical controller", typical, TYPICAL),
    row("`loadConfigWith`, exponential and bucket", someTypes, SOME_TYPES),
    row("`loadConfig`", allTypes, ALL_TYPES),
    ...withLimiters.map((size, i) => {
      const most = LIMITERS[i] === "createBucketLimiter" ? BUCKET : LIMITER;
      return row(`\`${LIMITERS[i]}\` in addition`, size - without, most);
    }),
  ];
  const checks = (await typeCosts()).map(([program, instantiations]) => `| ${program} | ${instantiations} |`);
  const alone = bytes.slice(-names.length).map((size, i) => `| \`${names[i]}\` | ${kB(size)} |`);
  return `\
# Sizes

A program downloads only what it imports. This page has the sizes of bundles, minified by esbuild and gzipped. Bundles of
Rollup and Bun are as large, within 3 %. \`npx -y deno task generate\` writes the page, and tests compare it with the code
and with bundles of the published package.

To import less:

- Import functions by name, and let a bundler leave out the rest. No module of the main entry does anything when it is imported.
- Give a queue only the options that it needs. A discipline, a store of given-up items, a retry budget, a throttle and
  metrics are values that bring their own code.
- Use \`loadConfigWith\` with [registries of the types](config.md#import-less) that the document has.

A separate entry point such as \`@workqueue/core/work-queue\` makes a bundle no smaller. Without a bundler, a program
loads fewer modules from JSR if it uses separate entry points. In the package on npm, all modules are joined into one,
which loads faster than a part of them did.

## Typical programs

A typical controller imports a rate-limiting queue, the default limiter and workers. The size of a limiter is what it adds
to a rate-limiting queue and workers. ✓ and ✗ show whether the exact size, before rounding, is within the target.

| bundle | kB | target |
| --- | --- | --- |
${rows.join("\n")}

## Type checks

Checking a program costs the compiler this many instantiations of generic types, with TypeScript 7 and \`skipLibCheck\`.
An import of the main entry costs none, because the compiler resolves only the types that a program uses. The
instantiations of a controller are the types of its queue and pool. Those of a limiter's config are the options of all
built-in types, with which the compiler compares the config.

| a program that | instantiations |
| --- | --- |
${checks.join("\n")}

## Each name alone

| bundle of | kB |
| --- | --- |
${alone.join("\n")}
`;
}

/** Rounds to 0.1 kB, because versions of zlib differ by a few bytes. */
function kB(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

function row(name: string, bytes: number, target: number): string {
  return `| ${name} | ${bytes <= 1000 * target ? "✓" : "✗"} ${kB(bytes)} | at most ${target} |`;
}
