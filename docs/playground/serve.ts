/**
 * Serves the playground on this machine: `deno task playground [--port 4700]`. With `--out FOLDER`, writes its files
 * instead, for a host of static files.
 *
 * @module
 */

import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { playgroundFiles } from "./build.ts";

const HOST = "127.0.0.1";
const PORT = "4700";

try {
  const { port, out } = readOptions();
  const files = new Map(Object.entries(await playgroundFiles()));
  if (out === undefined) console.log(`Playground: http://${HOST}:${await serve(files, port)}/ (Ctrl-C stops it)`);
  else await write(files, out);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

function readOptions(): { port: number; out: string | undefined } {
  const { port, out } = parseArgs({ options: { port: { type: "string" }, out: { type: "string" } } }).values;
  if (out === "") throw new Error("'--out' must be the path of a folder, got ''");
  if (port !== undefined && out !== undefined) throw new Error("'--port' and '--out' exclude each other");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw new Error(`'--port' must be an integer from 0 (any free port) to 65535, got '${port}'`);
  }
  return { port: Number(port ?? PORT), out };
}

/** Serves the files, and returns the port. */
function serve(files: ReadonlyMap<string, string>, port: number): Promise<number> {
  const server = createServer(answerWith(files));
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "the port is in use. Pass another one with '--port'" : error.message;
      reject(new Error(`Cannot listen on ${HOST}:${port}: ${reason}`));
    });
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Returns a listener that answers as a host of static files does. */
function answerWith(files: ReadonlyMap<string, string>): RequestListener {
  return ({ method = "", url = "/" }, response) => {
    if (method !== "GET" && method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const name = url.split("?")[0]!.slice(1) || "index.html";
    const text = files.get(name);
    if (text === undefined) {
      response.writeHead(404).end();
      return;
    }
    const type = name.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(text);
  };
}

async function write(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of files) await writeFile(join(folder, name), text);
  } catch (error) {
    throw new Error(`Cannot write to '${folder}': ${(error as Error).message}`);
  }
  console.log(`Wrote ${[...files.keys()].join(", ")} to ${folder}`);
}
