/** Helpers that bundle modules for browsers. */

import { build, type BuildOptions, type BuildResult, stop } from "esbuild";
import { fileURLToPath } from "node:url";

/** Returns the bundle of a module and all its imports. */
export async function bundle(options: BuildOptions): Promise<Uint8Array> {
  return (await buildBundle(options)).outputFiles![0]!.contents;
}

/** Returns the paths of the files that contribute code to the bundle, relative to the root of the repository. */
export async function bundledFiles(options: BuildOptions): Promise<string[]> {
  const absWorkingDir = fileURLToPath(new URL("..", import.meta.url));
  const { metafile } = await buildBundle({ ...options, absWorkingDir, metafile: true });
  return Object.values(metafile!.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
  );
}

async function buildBundle(options: BuildOptions): Promise<BuildResult> {
  const result = await build({ ...options, bundle: true, format: "esm", target: "es2022", write: false });
  await stop();
  return result;
}
