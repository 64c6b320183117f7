/** npm registry on loopback for the packages of this repository: accepts uploads from `npm publish` and serves them. */

import { NPM, ROOT, run } from "./commands.ts";
import { packedOnce } from "./packed.ts";

/** Fields of an upload by `npm publish` that this file uses. */
interface Upload {
  versions: Record<string, { dist: { tarball: string } }>;
  _attachments?: Record<string, { data: string }>;
}

/** Packs the package in a folder of the repository as it is published. Returns the folder of its `package.tgz`. */
export async function packedToPublish(folder: string): Promise<string> {
  return await packedOnce(`to publish ${folder}`, async (scratch) => {
    await run(Deno.execPath(), ["run", "--no-config", "-A", "release/pack.ts", folder, `${scratch}/package.tgz`], ROOT);
  });
}

/**
 * Server for the parts of npm's protocol (https://github.com/npm/registry) that npm and Bun use. Dispose the object to
 * stop the server.
 */
export class NpmRegistry implements AsyncDisposable {
  /** Uploaded documents, by package name. */
  readonly #packages = new Map<string, Upload>();
  readonly #tarballs = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  /**
   * Option that makes npm use this registry for the packages of this repository. For all other packages, npm uses its
   * usual registry.
   */
  get npmOption(): string {
    return `--@workqueue:registry=${this.url}`;
  }

  /** Publishes the package in a folder of the repository, with the same commands as a release. */
  async publish(folder: string): Promise<void> {
    const packed = await packedToPublish(folder);
    const token = `--//127.0.0.1:${this.#server.addr.port}/:_authToken=any`;
    await run(NPM, ["publish", "package.tgz", this.npmOption, token], packed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
    if (request.method === "PUT") {
      const { _attachments = {}, ...document } = await request.json() as Upload;
      const [{ data }] = Object.values(_attachments) as [{ data: string }];
      const [{ dist }] = Object.values(document.versions) as [{ dist: { tarball: string } }];
      this.#packages.set(path, document);
      this.#tarballs.set(new URL(dist.tarball).pathname.slice(1), Uint8Array.fromBase64(data));
      return Response.json({ ok: true }, { status: 201 });
    }
    const document = this.#packages.get(path);
    if (document !== undefined) return Response.json(document);
    const tarball = this.#tarballs.get(path);
    return tarball === undefined ? Response.json({ error: "Not found" }, { status: 404 }) : new Response(tarball);
  }
}
