/**
 * Helpers for tests that need Redis or Valkey. Without a server, the tests are skipped, and one line of the output says
 * so.
 */

import process from "node:process";
import { callRedis, REDIS_SERVER, RedisServer } from "./server.ts";

export { uniqueName } from "./unique_name.ts";

const given = process.env["WORKQUEUE_REDIS_URL"];

/** Server shared by all tests in a file. The server is emptied before each test, unless its URL was given. */
export interface SharedServer {
  readonly url: string;
  /** Runs a command and returns the reply. */
  call(...command: string[]): Promise<unknown>;
}

/** Longest time of a test, in milliseconds, also on a busy machine. A test that hangs fails by name. */
const TEST_LIMIT = 600_000;

// The server is not started by a test, because it outlives each of them. It ends with the process, at the latest.
const own = given === undefined && REDIS_SERVER !== undefined ? await RedisServer.start() : undefined;
own?.unref();
/** URL of the server that the tests of a file share. */
export const REDIS_URL: string | undefined = given ?? own?.url;
const url = REDIS_URL;

if (REDIS_SERVER === undefined) {
  const without = given === undefined ? "with Redis" : "that restart Redis";
  console.log(`There is no redis-server or valkey-server on the PATH: leaving out the tests ${without}.`);
}

/**
 * Registers a test that uses the server shared by all tests in the file. Create queue names with
 * {@linkcode uniqueName}, because the server may have other users.
 */
export function redisTest(name: string, run: (server: SharedServer) => Promise<void>): void {
  Deno.test({
    name,
    ignore: url === undefined,
    timeout: TEST_LIMIT,
    fn: async () => {
      await own?.call("FLUSHALL");
      await run({ url: url!, call: (...command) => callRedis(url!, ...command) });
    },
  });
}

/** Registers a test that starts its own servers, so that it can stop them or pass options to them. */
export function serverTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: REDIS_SERVER === undefined, timeout: TEST_LIMIT, fn: run });
}
