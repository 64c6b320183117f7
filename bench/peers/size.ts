/** Size of the bundled module. */

import { build, stop } from "esbuild";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const mod = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/**
 * Returns the gzipped size, in bytes, of a minified bundle that exports `what` from the core, such as `*` or `{
 * createWorkQueue }`.
 */
export async function gzippedSize(what: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export ${what} from ${JSON.stringify(mod)};`, resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  await stop();
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}
