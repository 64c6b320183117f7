import type { Shutdown } from "@workqueue/core";

/** What `get` gives once the queue object is shut down. */
export const SHUTDOWN: Shutdown = { item: undefined, shutdown: true, [Symbol.dispose]() {} };
