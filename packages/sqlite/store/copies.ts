import type { KeptKey, StoredKey, StoredPage } from "@workqueue/engine";
import { come, delayUntil, makeDueReady } from "./arrivals.ts";
import { isGone, type Item, Line, placeBefore, placeInTurn } from "./item.ts";
import type { Queue } from "./queue.ts";
import { FAR, toMicroseconds } from "./time.ts";

/** Maximum number of keys on a page. */
const PAGE = 200;

/** Lists keys for a copy of the queue, in the order in which they came into the file. */
export function storedKeys(queue: Queue, withProcessing: boolean, cursor: string | undefined): StoredPage {
  const { tx } = queue;
  const rows = tx.rows("id > ? ORDER BY id LIMIT ?", Number(cursor ?? 0), PAGE);
  return {
    entries: rows.filter((item) => item.line !== null || item.due !== null || withProcessing && comesBack(item))
      .map((item) => storedKeyOf(queue, item)),
    cursor: rows.length < PAGE ? undefined : `${rows.at(-1)!.id}`,
  };
}

/** Reports whether a key would come back if its holder were lost. */
function comesBack({ token, cancelled, is_added_again }: Readonly<Item>): boolean {
  return token !== null && (cancelled === null || is_added_again !== 0);
}

function storedKeyOf({ tx: { now }, failures }: Queue, item: Readonly<Item>): StoredKey {
  const { key, payload, trace, stalls, priority, is_retry, line, place } = item;
  const { due, due_priority, due_is_retry, is_folding } = item;
  const isHeld = comesBack(item);
  const failed = failures.stored(key);
  return {
    key,
    payload: payload ?? undefined,
    trace: trace ?? undefined,
    stalls,
    readyAtMs: line !== null ? placeInTurn(place!) / 1000 : isHeld ? now / 1000 : undefined,
    isFirst: line !== null && place! < 0,
    priority: isHeld ? Math.max(priority, item.held_priority) : priority,
    retry: line === Line.BLOCKED_RETRY ? is_retry : 0,
    dueAtMs: due === null ? undefined : due / 1000,
    duePriority: due_priority,
    dueRetry: due_is_retry,
    isFolding: is_folding === 1,
    failures: failed && {
      count: failed.count,
      error: failed.error,
      sinceMs: (now - failed.since) / 1000,
      forgottenInMs: failed.ends === null ? undefined : (failed.ends - now) / 1000,
      earlyForMs: failed.due === null ? undefined : Math.max(failed.due - now, 0) / 1000,
    },
  };
}

/** Adds keys that were stored in another queue. Keys that this queue knows are left as they are. */
export function restoreKeys(queue: Queue, keys: readonly StoredKey[]): void {
  const { tx, failures, keptKeys } = queue;
  makeDueReady(queue);
  for (const stored of keys) {
    const item = tx.item(stored.key);
    if (!isGone(item) || keptKeys.find(stored.key) !== undefined) continue;
    if (stored.payload !== undefined) tx.state.hasPayloads = true;
    if (stored.priority !== 0 || stored.duePriority !== 0) tx.state.isRanked = true;
    item.payload = stored.payload ?? null;
    item.trace = stored.trace ?? null;
    item.stalls = stored.stalls;
    if (stored.failures !== undefined) failures.restore(stored.key, stored.failures);
    if (stored.dueAtMs !== undefined) {
      const due = Math.min(toMicroseconds(stored.dueAtMs), FAR);
      delayUntil(queue, item, due, stored.duePriority, stored.dueRetry);
      item.is_folding = stored.isFolding ? 1 : 0;
    }
    if (stored.readyAtMs !== undefined) {
      const readyAt = toMicroseconds(stored.readyAtMs);
      const place = readyAt <= tx.now ? readyAt : tx.tick();
      come(queue, item, stored.isFirst ? placeBefore(place) : place, stored.priority, stored.retry);
    }
  }
  queue.notify();
}

/** Adds keys that were given up in another queue. Keys that this queue knows are left as they are. */
export function restoreGivenUp({ tx, keptKeys }: Queue, keys: readonly KeptKey[]): void {
  for (const kept of keys) {
    if (isGone(tx.item(kept.key)) && keptKeys.find(kept.key) === undefined) keptKeys.restore(kept);
  }
  keptKeys.dropOld();
}
