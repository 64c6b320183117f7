/**
 * Tests of the docs site: `deno task test:site`. The site is built as for a host that serves it under a path, and each
 * page that a reader can reach is visited in Chromium. It is also built as for a host that serves only the site.
 */

import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { hasChromium, launchChromium } from "../chromium.ts";

const BASE = "/x/";
/** Largest page with all that it loads, in gzipped bytes. The playground is the simulator, and is larger. */
const MOST_BYTES = 150_000;
const WIDTHS = [390, 1024, 1440];
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
};

/** Addresses of the links of a page, its anchors, and whether it is wider than the window. */
interface Seen {
  readonly links: readonly string[];
  readonly names: readonly string[];
  readonly isWide: boolean;
}

/** Expression that runs axe. The label of VitePress' search button lacks the key that the button shows. */
const AXE = `axe.run({
  resultTypes: ["violations"],
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
  rules: { "label-content-name-mismatch": { enabled: false } },
})`;

/** Expression that a page evaluates to {@linkcode Seen}. */
const LOOK = `({
  links: [...document.querySelectorAll("a[href]")].map(({ href }) => href),
  names: [...document.querySelectorAll("[id]")].map(({ id }) => id),
  isWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
})`;

/** Serves a folder as a host of static files does, and counts what each file weighs. */
class Host implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #sizes = new Map<string, number>();

  constructor(folder: string) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const path = decodeURI(new URL(request.url).pathname);
      const file = path.startsWith(BASE) ? fileAt(join(folder, path.slice(BASE.length))) : undefined;
      if (file === undefined) return new Response(null, { status: 404 });
      const body = readFileSync(file);
      if (!this.#sizes.has(path)) this.#sizes.set(path, gzipSync(body).length);
      return new Response(body, { headers: { "content-type": TYPES[extname(file)] ?? "text/plain" } });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}${BASE}`;
  }

  sizeOf(url: string): number {
    return this.#sizes.get(decodeURI(new URL(url).pathname)) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function fileAt(path: string): string | undefined {
  if (existsSync(path) && statSync(path).isDirectory()) return fileAt(join(path, "index.html"));
  return [path, `${path}.html`].find((file) => existsSync(file));
}

async function build(folder: string, base: string): Promise<void> {
  const args = ["task", "site", "--base", base, "--out", folder];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
}

Deno.test({
  name: "site: each page that a reader can reach has no dead link, no error, no axe violation, and is small",
  ignore: !hasChromium,
  async fn() {
    const folder = mkdtempSync(join(tmpdir(), "workqueue_site_"));
    await build(folder, BASE);
    await using host = new Host(folder);
    const browser = await launchChromium();
    const complaints: string[] = [];
    const hashes: [page: string, url: string][] = [];
    const ids = new Map<string, Set<string>>();
    const found = new Set([host.url]);
    for (const url of found) { // a set goes on with what is added meanwhile
      const path = url.slice(host.url.length);
      const isPlayground = path.startsWith("playground/");
      const context = await browser.newContext({
        viewport: { width: WIDTHS[found.size % WIDTHS.length]!, height: 900 },
      });
      const page = await context.newPage();
      let bytes = 0;
      page.on("pageerror", (error) => complaints.push(`${path}: ${error}`));
      page.on("console", (message) => message.type() === "error" && complaints.push(`${path}: ${message.text()}`));
      page.on("response", (response) => {
        if (!response.ok()) complaints.push(`${path}: ${response.status()} for ${response.url()}`);
        bytes += host.sizeOf(response.url());
      });
      await page.goto(url, { waitUntil: "networkidle" });
      if (!isPlayground && bytes > MOST_BYTES) complaints.push(`${path}: ${bytes} bytes`);
      const { links, names, isWide } = await page.evaluate<Seen>(LOOK);
      if (isWide) complaints.push(`${path}: wider than the window`);
      ids.set(url, new Set(names));
      for (const link of links.filter((link) => link.startsWith(new URL(url).origin))) {
        const [target, hash] = link.split("#") as [string, string?];
        found.add(target);
        if (hash) hashes.push([path, link]);
      }
      if (!isPlayground) {
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<axe.AxeResults>(AXE);
        for (const { id, nodes } of violations) complaints.push(`${path}: ${id}: ${nodes[0]!.html}`);
      }
      await context.close();
    }
    await browser.close();
    for (const [page, url] of hashes) {
      const [target, hash] = url.split("#") as [string, string];
      if (!ids.get(target)?.has(decodeURIComponent(hash))) complaints.push(`${page}: no ${hash} in ${target}`);
    }
    rmSync(folder, { recursive: true });
    assert(found.size > 300, `${found.size} pages`);
    assertEquals([...new Set(complaints)], []);
  },
});

Deno.test("site: built for the root of a host, each file that a page links to or loads exists", async () => {
  const folder = mkdtempSync(join(tmpdir(), "workqueue_site_"));
  await build(folder, "/");
  const pages = globSync("**/*.html", { cwd: folder });
  const dead = pages.flatMap((page) => {
    const html = readFileSync(join(folder, page), "utf8");
    const urls = [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, url]) => new URL(url!, `http://host/${page}`));
    return urls.filter(({ host, pathname }) =>
      host === "host" && fileAt(join(folder, decodeURI(pathname))) === undefined
    )
      .map(({ pathname }) => `${page}: ${pathname}`);
  });
  rmSync(folder, { recursive: true });
  assert(pages.length > 300, `${pages.length} pages`);
  assertEquals(dead, []);
});
