import { setTimeout } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Time between two collections, in milliseconds, and at least this many times the duration of the last one. */
const INTERVAL = 3000;
const PAUSE = 50;

/**
 * Collects all garbage every few seconds on V8, which otherwise takes memory from the system while there is any. A
 * small heap makes starts of children faster: on Node, each start copies tables of all the memory in use. Does not keep
 * the process alive.
 */
export function keepHeapSmall(): void {
  const collect = collector();
  if (collect === undefined) return;
  const later = (ms: number) => {
    setTimeout(() => {
      const start = performance.now();
      collect();
      later(Math.max(INTERVAL, PAUSE * (performance.now() - start)));
    }, ms).unref();
  };
  later(INTERVAL);
}

/** Returns a function that collects all garbage; `undefined` if the runtime has none or needs none. */
function collector(): (() => void) | undefined {
  if ("Bun" in globalThis) return undefined;
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc");
  } catch {
    return undefined; // the command also runs without it
  }
}
