/** JSR registry on loopback: accepts uploads from `deno publish` and serves them. */

import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, run } from "./commands.ts";
import { copyRepository } from "./copy.ts";
import { entriesOf } from "./entries.ts";
import { filesIn, packedOnce } from "./packed.ts";
import { pin } from "./pin.ts";

/** Files of a package. Each key is a path within the package, such as `/mod.ts`. */
export type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** Version of a package. */
interface Release {
  name: string;
  version: string;
  exports: Readonly<Record<string, string>>;
  files: Files;
}

/** Name of the file with an uploaded tarball. */
const TARBALL = "package.tgz";

let published: Promise<Files> | undefined;

/** Returns the files that `deno publish` uploads for the core. Publishes only for the first call. */
export async function publishedFiles(): Promise<Files> {
  return await (published ??= (async () => {
    await using registry = new JsrRegistry();
    return await registry.publish(".");
  })());
}

/**
 * Server for the parts of JSR's protocol (https://jsr.io/docs/api) that `deno` uses. Dispose the object to stop the
 * server.
 */
export class JsrRegistry implements AsyncDisposable {
  /**
   * Contents that are served in place of some of the files. The registry still reports the original files' checksums.
   */
  readonly tampered: Files = new Map();
  readonly #releases = new Map<string, Release>();
  /** Uploaded tarballs, by package name. */
  readonly #uploads = new Map<string, Uint8Array>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  /**
   * Publishes the package in a folder of the repository. Returns the uploaded files. In a run of all tests, each
   * package is uploaded once, and the other registries of the run get the same files.
   */
  async publish(folder: string): Promise<Files> {
    const { name } = JSON.parse(await Deno.readTextFile(new URL(`${folder}/deno.json`, ROOT)));
    const packed = await packedOnce(`to publish on JSR ${folder}`, async (scratch) => {
      const from = new URL(`${folder}/`, folder === "." ? ROOT : await pinnedCopy());
      const args = ["publish", "--quiet", "--no-check", "--allow-dirty", "--no-provenance", "--token", "any"];
      await run(Deno.execPath(), args, from, { JSR_URL: this.url });
      Deno.writeFileSync(join(scratch, TARBALL), this.#uploads.get(name)!);
    });
    const files = await unpack(join(packed, TARBALL));
    const { version, exports } = JSON.parse(new TextDecoder().decode(files.get("/deno.json")));
    this.#releases.set(name, { name, version, exports: entriesOf(exports), files });
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const path = decodeURI(new URL(request.url).pathname);
    const upload = /^\/api\/scopes\/(\w+)\/packages\/([\w-]+)\/versions\/([\d.]+)$/.exec(path);
    if (upload && request.method === "POST") {
      return await this.#take(`@${upload[1]}/${upload[2]}`, upload[3]!, request);
    }
    if (upload) return notFound("packageVersionNotFound");
    if (path.startsWith("/api/")) return Response.json({}); // means that the package exists and accepts versions

    const [, name, version, file] = /^\/(@\w+\/[\w-]+)\/([\d.]+)?(.+)$/.exec(path) ?? [];
    const release = this.#releases.get(name!);
    if (release === undefined) return notFound("packageNotFound");
    if (path === `/${name}/meta.json`) return Response.json(metaOf(release));
    if (version !== release.version) return notFound("packageVersionNotFound");
    if (file === "_meta.json") return Response.json({ manifest: checksumsOf(release), exports: release.exports });
    const content = this.tampered.get(`/${name}${file}`) ?? release.files.get(file!);
    return content === undefined ? notFound("fileNotFound") : new Response(content);
  }

  /** Stores an uploaded tarball. */
  async #take(name: string, packageVersion: string, request: Request): Promise<Response> {
    this.#uploads.set(name, await request.bytes());
    const [packageScope, packageName] = name.slice(1).split("/");
    const at = new Date().toISOString();
    const task = { id: "1", status: "success", error: null, createdAt: at, updatedAt: at };
    return Response.json({ ...task, packageScope, packageName, packageVersion });
  }
}

/** Returns the folder of a copy of the repository with pinned packages, as for a release. */
async function pinnedCopy(): Promise<URL> {
  const copy = await packedOnce("pinned copy", (folder) => {
    copyRepository(folder);
    pin(pathToFileURL(`${folder}/`));
  });
  return pathToFileURL(`${copy}/`);
}

async function unpack(tarball: string): Promise<Files> {
  const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
  try {
    await run("tar", ["-xzf", tarball], folder);
    return new Map(
      filesIn(folder).map((path) => [
        `/${relative(folder, path).replaceAll("\\", "/")}`,
        Deno.readFileSync(path),
      ]),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function metaOf({ name, version }: Release) {
  const [scope, packageName] = name.slice(1).split("/");
  return { scope, name: packageName, latest: version, versions: { [version]: {} } };
}

function checksumsOf({ files }: Release): Record<string, { size: number; checksum: string }> {
  return Object.fromEntries(
    [...files].map(([path, content]) => {
      const checksum = `sha256-${createHash("sha256").update(content).digest("hex")}`;
      return [path, { size: content.length, checksum }];
    }),
  );
}

function notFound(code: string): Response {
  return Response.json({ code, message: code }, { status: 404 });
}
