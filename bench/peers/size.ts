/** How large the module is for those who bundle it. */

import { build, stop } from "esbuild";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const mod = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/**
 * The bytes of a module that exports this of ours, such as `*` or `{ createWorkQueue }`, bundled, minified and gzipped.
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
