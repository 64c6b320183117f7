import { setTimeout } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Shortest interval between two collections, in milliseconds. */
const INTERVAL = 500;
/** Shortest interval between two collections, as a multiple of the duration of the last collection. */
const PAUSE = 50;

let isKept = false;

/**
 * Collects all garbage at short intervals on V8. Left alone, V8 takes memory from the system as long as memory is
 * available. With a small heap, children start faster: on Node, each start copies the page tables of all memory in use.
 * The timer doesn't keep the process alive.
 */
export function keepHeapSmall(): void {
  if (isKept) return;
  isKept = true;
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

/** Returns a function that collects all garbage; `undefined` if the runtime has no such function or doesn't need it. */
function collector(): (() => void) | undefined {
  if ("Bun" in globalThis) return undefined;
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc");
  } catch {
    return undefined; // the command also works without collections
  }
}
