import { build, type Plugin, stop } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder with the source of the page. */
const PAGE = new URL("../../packages/simulate/page/", import.meta.url);

/** Resolves packages as this module's runtime does, because there may be no `node_modules`. */
const packages: Plugin = {
  name: "packages",
  setup({ onResolve }) {
    onResolve(
      { filter: /^[^./]/ },
      ({ path, kind }) => kind === "entry-point" ? undefined : { path: fileOf(path), sideEffects: false },
    );
  },
};

/** Returns the main file of a package. This runtime's build of `yaml` imports modules of Node. */
function fileOf(name: string): string {
  const file = fileURLToPath(import.meta.resolve(name));
  return name === "yaml" ? join(dirname(dirname(file)), "browser", "index.js") : file;
}

/** Files of the playground, by name. They need no server: any host of static files can serve them. */
export async function playgroundFiles(): Promise<Record<"index.html" | "playground.js" | "simulation.js", string>> {
  return {
    "index.html": await readFile(new URL("index.html", PAGE), "utf8"),
    "playground.js": await bundleForBrowsers(new URL("main.ts", PAGE)),
    "simulation.js": await bundleForBrowsers(new URL("worker.ts", PAGE)),
  };
}

/** Returns the bundle of a module and all its imports. */
export async function bundleForBrowsers(module: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(module)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["es2022", "chrome111", "firefox114", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    plugins: [packages],
  });
  await stop();
  return outputFiles[0]!.text;
}
