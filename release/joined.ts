import { dirname, join } from "node:path";
import { entriesOf, type Exports } from "./entries.ts";
import { filesIn } from "./packed.ts";

/**
 * Returns the modules of a library in JavaScript, by path: one file with everything that the main entry loads, a small
 * file for each entry, and files for what only other entries load. Runtimes load a few files faster than hundreds, and
 * bundlers still leave out each function and class that a program doesn't use.
 *
 * @param folder The folder of the package.
 */
export async function joinedModules(folder: string): Promise<ReadonlyMap<string, string>> {
  const { rollup } = await import("npm:rollup@^4");
  const { transform } = await import("npm:esbuild@^0.28");
  const options = {
    external: (path: string) => !/^[./]/.test(path),
    treeshake: false, // an entry keeps its effects
    plugins: [{
      name: "typescript",
      transform: async (code: string, path: string) =>
        path.endsWith(".ts") ? (await transform(code, { loader: "ts", target: "esnext" })).code : null,
    }],
  };
  const entries = entriesOf(
    (JSON.parse(Deno.readTextFileSync(join(folder, "deno.json"))) as { exports: Exports }).exports,
  );
  const input = Object.fromEntries(
    Object.values(entries).map((file) => [file.replace(/^\.\/|\.ts$/g, ""), join(folder, file)]),
  );
  const ofMain = new Set((await rollup({ ...options, input: join(folder, entries["."]!) })).watchFiles);
  const { output } = await (await rollup({ ...options, input })).generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "joined/[name].js",
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    manualChunks: (path) => ofMain.has(path) ? "main" : undefined,
  });
  return new Map(output.map((file) => [file.fileName, (file as { code: string }).code]));
}

/**
 * Replaces the JavaScript of a packed library with its joined modules, unless a module looks for files beside itself.
 *
 * @param folder The folder of the package.
 * @param packed The folder of the packed package.
 */
export async function joinModules(folder: string, packed: string): Promise<void> {
  const modules = await joinedModules(folder);
  if ([...modules.values()].some((code) => code.includes("import.meta"))) return;
  for (const path of filesIn(packed)) if (path.endsWith(".js")) Deno.removeSync(path);
  for (const [path, code] of modules) {
    Deno.mkdirSync(dirname(join(packed, path)), { recursive: true });
    Deno.writeTextFileSync(join(packed, path), code);
  }
}
