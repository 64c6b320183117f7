/** A second copy of the package, such as a program has that depends on it twice. */

import { build, stop } from "esbuild";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";

/** Loads a copy of its own: nothing of it is the very object that is imported as `@workqueue/core`. */
export async function loadSecondCopy(): Promise<typeof import("@workqueue/core")> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../mod.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  await stop();
  const code = Buffer.from(outputFiles[0]!.contents).toString("base64");
  return await import(`data:text/javascript;base64,${code}`);
}
