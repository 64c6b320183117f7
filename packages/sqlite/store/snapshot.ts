import type { EngineSnapshot, FailingKey } from "@workqueue/engine";
import { countKeys } from "./counts.ts";
import { type Item, Line } from "./item.ts";
import type { Queue } from "./queue.ts";
import { NONE_GIVEN_UP } from "./state.ts";

/** Failing keys that one page checks, at least. */
const PAGE = 100;
/** Maximum number of keys with failures that are skipped because they will not be retried. */
const SPARE = 1000;

/** Counts and lists the keys of a queue, up to `limit` in each list. */
export function takeSnapshot(queue: Queue, limit: number, hasItems: boolean): EngineSnapshot {
  const { tx } = queue;
  const { state, now } = tx;
  const payloadOf = ({ payload }: Readonly<Item>) => hasItems ? payload ?? undefined : undefined;
  const ranked = (item: Readonly<Item>, priority: number) => ({
    key: item.key,
    payload: payloadOf(item),
    priority: state.isRanked ? priority : undefined,
  });
  const blockedRetries = queue.budget?.blocked;
  const hasGroups = queue.order.groupOf("") !== undefined;
  return {
    ...countKeys(queue),
    paused: queue.isPaused,
    totals: {
      handedOut: state.handedOut,
      failed: state.failed,
      givenUp: state.givenUp,
      givenUpFor: { ...NONE_GIVEN_UP, ...state.givenUpFor },
    },
    readyItems: nextKeys(queue, limit).map((item) => ranked(item, item.priority)),
    delayedItems: tx.rows("due > ? ORDER BY due, due_turn LIMIT ?", now, limit).map((item) => ({
      ...ranked(item, item.due_priority),
      dueInMs: (item.due! - now) / 1000,
    })),
    processingItems: tx.rows("owner IS NOT NULL LIMIT ?", limit).map((item) => ({
      ...ranked(item, item.held_priority),
      addedAgain: item.is_added_again !== 0,
    })),
    failingItems: failingKeys(queue, limit, payloadOf),
    ...blockedRetries !== undefined && { blockedRetries },
    ...hasGroups && {
      blockedGroups: queue.order.blockedGroups(limit).map(({ changesAt, ...group }) => ({
        ...group,
        resumesInMs: changesAt === undefined ? null : (changesAt - now) / 1000,
      })),
    },
  };
}

/** Returns the keys that are ready, the next one first. */
function nextKeys(queue: Queue, limit: number): Readonly<Item>[] {
  const { tx, order } = queue;
  const isPlain = tx.state.discipline === undefined;
  const first = tx.rows(`line IN (${Line.STALLED}, ${Line.SUSPECT}) ORDER BY place LIMIT ?`, limit);
  const ready = [...order.list(limit), ...queue.inEarlierLines(limit)];
  const due = tx.behind === undefined ? [] : tx.rows("due <= ? ORDER BY due, due_turn LIMIT ?", tx.now, limit);
  const placeOf = ({ place, due }: Readonly<Item>) => place ?? due!;
  const byPlace = [...first, ...isPlain ? ready : [], ...due].sort((one, other) => placeOf(one) - placeOf(other));
  return [...byPlace, ...isPlain ? [] : ready].slice(0, limit);
}

/** Returns the keys with the most failures, without those that will not be retried. */
function failingKeys(
  { tx, failures }: Queue,
  limit: number,
  payloadOf: (item: Readonly<Item>) => string | undefined,
): FailingKey[] {
  const found: FailingKey[] = [];
  const page = Math.max(limit, PAGE);
  for (let from = 0; found.length < limit && from < limit + SPARE; from += page) {
    const keys = failures.worst(page, from);
    for (const { key, count, error } of keys) {
      const [item] = tx.rows("key = ?", key);
      if (item === undefined || found.length === limit) continue;
      const dueInMs = item.due === null ? undefined : (item.due - tx.now) / 1000;
      found.push({ key, payload: payloadOf(item), attempts: count, error, dueInMs });
    }
    if (keys.length < page) break;
  }
  return found;
}
