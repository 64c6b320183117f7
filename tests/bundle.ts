/** Modules as a browser gets them. */

import { build, type BuildOptions, stop } from "esbuild";

/** What esbuild makes of a module and all that it imports. */
export async function bundle(options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...options, bundle: true, format: "esm", target: "es2022", write: false });
  await stop();
  return outputFiles[0]!.contents;
}
