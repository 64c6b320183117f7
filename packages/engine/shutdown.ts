import type { Shutdown } from "@workqueue/core";

/** Result of `get` after the queue object was shut down. */
export const SHUTDOWN: Shutdown = { item: undefined, shutdown: true, [Symbol.dispose]() {} };
