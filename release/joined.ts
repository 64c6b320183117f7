import { dirname, join } from "node:path";
import { entriesOf, type Exports } from "./entries.ts";
import { filesIn } from "./packed.ts";

/**
 * Replaces the JavaScript of a library with one file that has everything that the main entry loads, a small file for
 * each entry, and files for what only other entries load. Runtimes load a few files faster than hundreds, and bundlers
 * still leave out each function and class that a program doesn't use. Changes nothing if a module looks for files
 * beside itself.
 *
 * @param folder The folder of the package.
 * @param packed The folder of the packed package.
 */
export async function joinModules(folder: string, packed: string): Promise<void> {
  const { rollup } = await import("npm:rollup@^4");
  const { transform } = await import("npm:esbuild@^0.28");
  const manifest: { exports: Exports } = JSON.parse(Deno.readTextFileSync(join(folder, "deno.json")));
  const entries = entriesOf(manifest.exports);
  await using build = await rollup({
    input: Object.fromEntries(
      Object.values(entries).map((file) => [file.replace(/^\.\/|\.ts$/g, ""), join(folder, file)]),
    ),
    external: (path: string) => !/^[./]/.test(path),
    treeshake: false, // an entry keeps its effects
    plugins: [{
      name: "typescript",
      transform: async (code: string, path: string) =>
        path.endsWith(".ts") ? (await transform(code, { loader: "ts", target: "esnext" })).code : null,
    }],
  });
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "joined/[name].js",
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    manualChunks: { main: [join(folder, entries["."]!)] }, // with all that it imports
  });
  const modules = output.map((file) => file as { fileName: string; code: string });
  if (modules.some(({ code }) => code.includes("import.meta"))) return;
  for (const path of filesIn(packed)) if (path.endsWith(".js")) Deno.removeSync(path);
  for (const { fileName, code } of modules) {
    const path = join(packed, fileName);
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, code);
  }
}
