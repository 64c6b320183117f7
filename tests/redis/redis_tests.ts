/** Tests that need a Redis or Valkey. Where there is none, they are left out, and that is said once. */

import process from "node:process";
import { callRedis, REDIS_SERVER, RedisServer } from "./server.ts";

export { uniqueName } from "./unique_name.ts";

const given = process.env["WORKQUEUE_REDIS_URL"];

/** The server that the tests of a file share. It is empty for each, unless it is one that was given. */
export interface SharedServer {
  readonly url: string;
  /** What it answers to a command. */
  call(...command: string[]): Promise<unknown>;
}

// Before any test, as it outlives them. Its end is that of the process, if not before.
const own = given === undefined && REDIS_SERVER !== undefined ? await RedisServer.start() : undefined;
own?.unref();
const url = given ?? own?.url;

if (REDIS_SERVER === undefined) {
  const without = given === undefined ? "with Redis" : "that restart Redis";
  console.log(`There is no redis-server or valkey-server on the PATH: leaving out the tests ${without}.`);
}

/**
 * A test on the server that the tests of the file share. Names of queues are to be made by {@linkcode uniqueName}, as
 * the server may be one that others use.
 */
export function redisTest(name: string, run: (server: SharedServer) => Promise<void>): void {
  Deno.test({
    name,
    ignore: url === undefined,
    fn: async () => {
      await own?.call("FLUSHALL");
      await run({ url: url!, call: (...command) => callRedis(url!, ...command) });
    },
  });
}

/** A test that starts servers itself, to stop them or to give them options. */
export function serverTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: REDIS_SERVER === undefined, fn: run });
}
