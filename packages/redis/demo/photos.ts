/** Queue of the demo, and the events that its workers report to the main process. */

import process from "node:process";
import { createRedisQueue, type RedisQueue } from "../mod.ts";

/** Duration of a lease, in seconds. */
export const LEASE = 2;

/** Event that a worker writes to its standard output as a line of JSON. */
export type Event =
  | { readonly kind: "takes"; readonly photo: string; readonly attempt: number }
  | { readonly kind: "done"; readonly photo: string }
  | { readonly kind: "failed"; readonly photo: string; readonly error: string };

/** Opens the queue. The arguments are the queue's name and the server's URL. */
export function openPhotos([name, url]: readonly string[]): RedisQueue {
  return createRedisQueue({
    name: name!,
    url: url!,
    leaseDuration: `${LEASE}s`,
    callTimeout: "5s",
    limiter: { type: "exponential", baseDelay: "500ms", maxDelay: "10s" },
  });
}

/** Opens the queue with this process's command-line arguments. */
export function openMine(): RedisQueue {
  return openPhotos(process.argv.slice(2));
}
