import { setTimeout } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often garbage is collected, in milliseconds; and how many times as long as it takes there is at least between two. */
const INTERVAL = 3000;
const PAUSE = 50;

/**
 * Collects all garbage every few seconds, on V8, which would rather take memory from the system as long as there is any.
 * Memory is time here: each start of a child copies tables of all that is in use, on Node; and it has to be enough for
 * everybody else. It keeps no process alive.
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

/** What collects all garbage; `undefined` where there is no such thing, or no need for it. */
function collector(): (() => void) | undefined {
  if ("Bun" in globalThis) return undefined;
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc");
  } catch {
    return undefined; // the command runs as well without
  }
}
