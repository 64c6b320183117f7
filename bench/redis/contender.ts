/** Common interface of the contenders, so that they can be measured in the same way. */

/**
 * Opens a session with the named queue on a server. `payload` is the number of characters that each item has in
 * addition to its key. If `payload` is 0, each item consists only of its key.
 */
export type Contender = (options: { url: string; queue: string; payload: number }) => Promise<Session>;

/** Connected queue in one process. Items are identified by their keys. */
export interface Session extends AsyncDisposable {
  add(key: string): Promise<unknown>;
  addAfter(key: string, ms: number): Promise<unknown>;
  addAll(keys: string[]): Promise<unknown>;
  /** Connects workers that process `concurrency` items at the same time. The handler returns immediately. */
  openWorkers(concurrency: number, handler: (key: string) => void): Promise<Workers>;
  /** Takes one ready item and finishes it by direct calls, without a pool of workers. */
  takeAndFinish(): Promise<void>;
  /** Returns the number of unfinished items. */
  left(): Promise<number>;
}

export interface Workers {
  start(): void;
  /** Stops taking items. Resolves when all running handlers have finished. */
  stop(): Promise<unknown>;
}

/** Name of this package in the tables. */
export const OURS = "@workqueue/redis";

/** Name of the peer in the tables. */
export const BULLMQ = "BullMQ";

const FIRST = 100_000_000;
/** Length of a key, in bytes. */
export const KEY_LENGTH = 26;

/**
 * Returns keys that look like a controller's, such as `namespace-7/name-100012347`. Each key has {@linkcode KEY_LENGTH}
 * bytes.
 */
export function keys(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `namespace-${(from + i) % 10}/name-${FIRST + from + i}`);
}

/** Item with a payload. */
export interface Item {
  key: string;
  text: string;
}

/** Number of items per call, for contenders that can add several items in one call. */
export const BULK = 100;
