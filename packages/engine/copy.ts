import type { RemoteQueue } from "./contract.ts";
import type { QueueEngine } from "./engine.ts";

/** Key of the property of a queue object that copies use. */
export const ENGINE: unique symbol = Symbol.for("workqueue.engine");

/** Maximum number of given-up keys that one call reads. */
const PAGE = 1000;

/** Options of {@linkcode copyQueue}. */
export interface CopyOptions {
  /** Whether the target may have items. Items of the target are left as they are. */
  readonly merge?: boolean | undefined;
  /** Whether items that are processing are copied too. They become ready, with the failures that they had before. */
  readonly processing?: boolean | undefined;
  /** Called with the number of items that were read so far. */
  readonly onProgress?: ((items: number) => void) | undefined;
}

/** Outcome of {@linkcode copyQueue}. */
export interface CopyResult {
  /**
   * Number of copied items that were ready, blocked, delayed or processing, including items that the target already
   * had.
   */
  readonly items: number;
  /** Number of given-up items. */
  readonly givenUp: number;
  /** Number of given-up items that the target dropped, because it keeps fewer. */
  readonly dropped: number;
}

/**
 * Copies the items of a queue to another queue, whatever the two engines: with their payloads, priorities, delays and
 * failures, in their order, and with the given-up items. Settings of the queue, and totals, are not copied.
 *
 * Pauses both queues, and leaves them paused. The source is not changed otherwise. A copy that was interrupted is
 * continued by another copy with `merge`: items that the target has are left as they are.
 *
 * @throws {Error} If both are the same queue, if the target has items and `merge` is not set, or if items of the source
 * are processing and `processing` is not set. Then, neither queue stays paused because of this call.
 */
export async function copyQueue(
  from: RemoteQueue<unknown>,
  to: RemoteQueue<unknown>,
  { merge = false, processing = false, onProgress }: CopyOptions = {},
): Promise<CopyResult> {
  const [source, target] = [engineOf(from), engineOf(to)];
  if (source.product === target.product && source.address === target.address && from.name === to.name) {
    throw refusal("both are the same queue");
  }
  const stops: (() => Promise<void>)[] = [];
  try {
    for (const queue of [target, source]) {
      const { paused } = await queue.snapshot(0);
      const pause = await queue.pause();
      if (!paused) stops.push(() => queue.resume(pause));
    }
    const { ready, blocked, delayed, processing: held, givenUp } = await target.counts();
    const present = ready + blocked + delayed + held + givenUp;
    if (present > 0 && !merge) throw refusal(`the target is not empty: it has ${countOf(present)}`);
    const running = (await source.counts()).processing;
    if (running > 0 && !processing) throw refusal(`${countOf(running)} of the source ${isOrAre(running)} processing`);
  } catch (error) {
    for (const stop of stops) await stop();
    throw error;
  }
  const before = await droppedBy(target);
  let items = 0;
  let givenUp = 0;
  for await (const entries of pagesOf((cursor) => source.stored(processing, cursor))) {
    await target.restore(entries);
    items += entries.length;
    onProgress?.(items);
  }
  for await (const entries of pagesOf((cursor) => source.givenUp({ search: "", limit: PAGE, cursor }))) {
    await target.restoreGivenUp(entries);
    givenUp += entries.length;
    onProgress?.(items + givenUp);
  }
  return { items, givenUp, dropped: await droppedBy(target) - before };
}

/** Entries of a list, and the cursor of the next ones, if there are more. */
interface Page<E> {
  readonly entries: readonly E[];
  readonly cursor?: string | undefined;
}

/** Reads the pages of a list until the last one. */
async function* pagesOf<E>(read: (cursor: string | undefined) => Promise<Page<E>>): AsyncGenerator<readonly E[]> {
  let page = await read(undefined);
  yield page.entries;
  while (page.cursor !== undefined) yield (page = await read(page.cursor)).entries;
}

function engineOf(queue: RemoteQueue<unknown>): QueueEngine {
  return (queue as unknown as { [ENGINE]: QueueEngine })[ENGINE];
}

async function droppedBy(engine: QueueEngine): Promise<number> {
  return (await engine.givenUp({ search: "", limit: 0, cursor: undefined })).dropped;
}

function countOf(items: number): string {
  return items === 1 ? "1 item" : `${items} items`;
}

function isOrAre(items: number): string {
  return items === 1 ? "is" : "are";
}

function refusal(reason: string): Error {
  return new Error(`Cannot copy queue: ${reason}`);
}
