import { argumentError } from "@workqueue/core/internal";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { SqliteQueueOptions } from "../contract.ts";
import { isServedHere } from "./protocol.ts";
import { SERVER } from "./server.ts";

/** Option `thread` of a queue whose database is in a thread. */
export type GivenThread = Exclude<SqliteQueueOptions["thread"], false | undefined>;

const REMEDY = "'thread' must be the URL of a second file that calls `serveThread` of @workqueue/sqlite/thread";

/**
 * Returns the text that a thread evaluates. A text imports the module, because Deno starts no thread from a module that
 * came from a server.
 *
 * @throws {Error} If the thread would start this program again.
 */
export function entryOf(given: GivenThread): string {
  const action = "start thread";
  if (isServedHere()) throw argumentError(action, `a thread started this program again: ${REMEDY}`, Error);
  if (given === true) {
    if (isBundled()) throw argumentError(action, `this program is bundled: ${REMEDY}`, Error);
    return `import(${JSON.stringify(SERVER)}).then(({ serveThread }) => serveThread())`;
  }
  const { href } = new URL(given);
  if (href === import.meta.url || href === mainModule()) {
    throw argumentError(action, `'thread' is the URL of this program: ${REMEDY}`, Error);
  }
  return `import(${JSON.stringify(href)})`;
}

/**
 * Whether the address of the server is that of a bundle, which would start the program in the thread. All modules of a
 * bundle have its address, or that of one of its parts.
 */
function isBundled(): boolean {
  return SERVER === import.meta.url || !/\/thread\/server\.[jt]s$/.test(SERVER);
}

function mainModule(): string | undefined {
  const path = process.argv[1];
  return path === undefined ? undefined : pathToFileURL(path).href;
}
