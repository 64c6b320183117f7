/** What the processes of the demo have in common: the queue, and what they tell the one that started them. */

import process from "node:process";
import { createRedisQueue, type RedisQueue } from "../mod.ts";

/** In seconds. */
export const LEASE = 2;

/** What a worker does, as a line of JSON on its standard output. */
export type Event =
  | { readonly kind: "takes"; readonly photo: string; readonly attempt: number }
  | { readonly kind: "done"; readonly photo: string }
  | { readonly kind: "failed"; readonly photo: string; readonly error: string };

/** The queue, as one process opens it. Its name and the server's URL are the process's arguments. */
export function openPhotos([name, url]: readonly string[]): RedisQueue {
  return createRedisQueue({
    name: name!,
    url: url!,
    leaseDuration: `${LEASE}s`,
    callTimeout: "5s",
    limiter: { type: "exponential", baseDelay: "500ms", maxDelay: "10s" },
  });
}

/** Opens the queue of this process. */
export function openMine(): RedisQueue {
  return openPhotos(process.argv.slice(2));
}
