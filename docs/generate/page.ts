import { build, type BuildOptions, type Plugin, stop } from "esbuild";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const folder = new URL("../../packages/dashboard/page/", import.meta.url);

/** Resolves packages as this module's runtime does, because there may be no `node_modules`. */
const packages: Plugin = {
  name: "packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === "entry-point") return undefined;
      // The main file of uPlot is for `require`.
      const module = path === "uplot" ? "uplot/dist/uPlot.esm.js" : path;
      return { path: fileURLToPath(import.meta.resolve(module)), sideEffects: false };
    });
    onLoad(
      { filter: /uPlot\.esm\.js$/ },
      async ({ path }) => ({ contents: withoutExtras(await readFile(path, "utf8")) }),
    );
  },
};

/**
 * Removes the static properties of uPlot's constructor. They are drawing functions that the page does not use, three
 * kilobytes gzipped.
 */
function withoutExtras(uPlot: string): string {
  const needed = uPlot.replace(/^uPlot\.assign = [^]*(?=^export )/m, "");
  if (needed === uPlot) throw new Error("uPlot is not built as it was: look anew for what can be left out of it");
  return needed;
}

async function bundled(file: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, folder))],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022", "chrome111", "firefox114", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [packages],
    ...options,
  });
  return outputFiles![0]!.text.trim();
}

/** Returns the hash by which a content security policy allows a script or style. */
function hashOf(source: string): string {
  return `sha256-${createHash("sha256").update(source).digest("base64")}`;
}

/**
 * Returns the dashboard's page as a module of strings. It contains the script and the style, so a server reads no
 * files. uPlot, which is as large as the rest, is loaded when the charts of a queue are first shown.
 */
export async function page(): Promise<string> {
  const plot = await bundled("plot.ts");
  const [html, style, script] = await Promise.all([
    readFile(new URL("index.html", folder), "utf8"),
    bundled("style.css"),
    bundled("main.tsx", { define: { PLOT_HASH: JSON.stringify(hashOf(plot)) } }),
  ]);
  await stop();
  const whole = html
    .replace(/\n\s*/g, "")
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}' '${hashOf(plot)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types plot",
  ];
  return `// Made of page/ by 'deno task generate'. Preact and uPlot are in it.

/** The whole page: it loads nothing but \`api/…\`, from where it lies. */
export const PAGE: string =
  // deno-fmt-ignore
  ${JSON.stringify(whole)};

/** The script that draws the charts of a queue: it is loaded when they are first shown. */
export const PLOT: string =
  // deno-fmt-ignore
  ${JSON.stringify(plot)};

/** The content security policy under which it works, and nothing else does. */
export const PAGE_CSP: string =
  // deno-fmt-ignore
  ${JSON.stringify(policy.join("; "))};
`;
}
