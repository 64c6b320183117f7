/** What is asked of those who are compared, so that the same measurements fit all of them. */

/**
 * Who is compared, with a queue of a name on a server. `payload` is the number of characters beside the key; 0: keys
 * alone.
 */
export type Contender = (options: { url: string; queue: string; payload: number }) => Promise<Session>;

/** A queue as one process sees it, connected. Items are known by their keys here. */
export interface Session extends AsyncDisposable {
  add(key: string): Promise<unknown>;
  addAfter(key: string, ms: number): Promise<unknown>;
  addAll(keys: string[]): Promise<unknown>;
  /** Connects workers for so many items at once, with a handler that returns at once. */
  openWorkers(concurrency: number, handler: (key: string) => void): Promise<Workers>;
  /** Takes one item that is there, and finishes it: what workers do, by hand. */
  takeAndFinish(): Promise<void>;
  /** How many items are not finished. */
  left(): Promise<number>;
}

export interface Workers {
  start(): void;
  /** Takes no more. Resolves when what was begun is finished. */
  stop(): Promise<unknown>;
}

/** What we call ourselves in the tables. */
export const OURS = "@workqueue/redis";

/** What the other one is called. */
export const BULLMQ = "BullMQ";

const FIRST = 100_000_000;
/** How many bytes a key has. */
export const KEY_LENGTH = 26;

/** Keys such as a controller has: `namespace-7/name-100012347`, all of {@linkcode KEY_LENGTH} bytes. */
export function keys(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `namespace-${(from + i) % 10}/name-${FIRST + from + i}`);
}

/** An item with a payload. */
export interface Item {
  key: string;
  text: string;
}

/** How much is added at once, where a contender has a call for that. */
export const BULK = 100;
