/** Sizes of bundles. */

import { build, stop } from "esbuild";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import type { Bound } from "../rows/row.ts";

const mod = fileURLToPath(new URL("../../mod.ts", import.meta.url));

const WHOLE = "`mod.ts`";
const WORK_QUEUE = "`createWorkQueue` alone";
const CONTROLLER = "a typical controller";

/** Functions that create a limiter, without the two that combine others. */
const LIMITERS = [...new Set(readFileSync(mod, "utf8").match(/\bcreate(?!Default)\w+Limiter\b/g))];

/** Bounds for the sizes, in kB. */
export const sizeBounds: readonly Bound[] = [
  { contender: WHOLE, atMost: 10 },
  { contender: WORK_QUEUE, atMost: 6.5 },
  { contender: CONTROLLER, atMost: 15 },
  ...LIMITERS.map((limiter) => ({ contender: nameOf(limiter), atMost: 1 })),
];

function nameOf(limiter: string): string {
  return `\`${limiter}\` in addition`;
}

/** Returns all sizes, in kB. They are the same on every runtime. */
export async function measureSizes(): Promise<Record<string, number>> {
  const without = await gzippedSize("{ createRateLimitingQueue, runWorkers }");
  const figures: Record<string, number> = {
    [WHOLE]: await gzippedSize("*"),
    [WORK_QUEUE]: await gzippedSize("{ createWorkQueue }"),
    [CONTROLLER]: await gzippedSize("{ createDefaultControllerLimiter, createRateLimitingQueue, runWorkers }"),
  };
  for (const limiter of LIMITERS) {
    figures[nameOf(limiter)] = await gzippedSize(`{ createRateLimitingQueue, runWorkers, ${limiter} }`) - without;
  }
  await stop();
  return figures;
}

/** Returns the gzipped size, in kB, of a minified bundle that exports `what` from the core. */
async function gzippedSize(what: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export ${what} from ${JSON.stringify(mod)};`, resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000;
}
