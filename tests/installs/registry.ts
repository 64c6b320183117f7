/** What JSR would serve once the repository was published as it is, on loopback. */

import { createHash } from "node:crypto";
import { manifest, ROOT, run } from "./project.ts";

/** The files of a package, by their paths in it, such as `/mod.ts`. */
export type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** What `deno publish` would upload. */
export async function publishedFiles(): Promise<Files> {
  const { stderr } = await run(Deno.execPath(), ["publish", "--dry-run", "--allow-dirty"], ROOT);
  const files: Files = new Map();
  for (const [, url] of stderr.matchAll(/^ +(file:\S+) \(/gm)) {
    files.set(`/${url!.slice(ROOT.href.length)}`, await Deno.readFile(new URL(url!)));
  }
  return files;
}

/** Serves the package by JSR's protocol, https://jsr.io/docs/api#jsr-registry-api, until it is disposed. */
export class Registry implements AsyncDisposable {
  /** What is served in place of some of the files. The checksums stay those of the right ones. */
  readonly tampered: Files = new Map();
  readonly #files: Files;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(files: Files) {
    this.#files = files;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#answer(decodeURI(new URL(request.url).pathname)),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #answer(path: string): Response {
    const { name, version, exports } = manifest;
    if (path === `/${name}/meta.json`) {
      const [scope, packageName] = name.slice(1).split("/");
      return Response.json({ scope, name: packageName, latest: version, versions: { [version]: {} } });
    }
    if (path === `/${name}/${version}_meta.json`) return Response.json({ manifest: this.#checksums(), exports });
    const file = path.startsWith(`/${name}/${version}/`) ? path.slice(`/${name}/${version}`.length) : "";
    const content = this.tampered.get(file) ?? this.#files.get(file);
    return content === undefined ? new Response("Not found", { status: 404 }) : new Response(content);
  }

  #checksums(): Record<string, { size: number; checksum: string }> {
    return Object.fromEntries(
      [...this.#files].map(([path, content]) => {
        const checksum = `sha256-${createHash("sha256").update(content).digest("hex")}`;
        return [path, { size: content.length, checksum }];
      }),
    );
  }
}
