/** Second copy of the package, as in a program that depends on it twice. */

import { build, type BuildOptions, stop } from "esbuild";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);

/** Loads a separate copy of the package. None of the copy's objects is identical to an object of `@workqueue/core`. */
export async function loadSecondCopy(): Promise<typeof import("@workqueue/core")> {
  return await load("mod.ts") as typeof import("@workqueue/core");
}

/**
 * Loads a module of a package together with a copy of the core that has another version.
 *
 * @param path The module, which may import only the internals of the core.
 * @param version The version of the core's copy.
 */
export async function loadWithCore(path: string, version: string): Promise<unknown> {
  return await load(path, {
    alias: { "@workqueue/core/internal": fileURLToPath(new URL("lib/base/mod.ts", ROOT)) },
    plugins: [{
      name: "version of the core",
      setup({ onLoad }) {
        const contents = `export const VERSION = ${JSON.stringify(version)};`;
        onLoad({ filter: /lib[\\/]base[\\/]version\.ts$/ }, () => ({ contents }));
      },
    }],
  });
}

async function load(path: string, options: BuildOptions = {}): Promise<unknown> {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [fileURLToPath(new URL(path, ROOT))],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  await stop();
  const code = Buffer.from(outputFiles![0]!.contents).toString("base64");
  return await import(`data:text/javascript;base64,${code}`);
}
