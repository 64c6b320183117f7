/**
 * Ends of leases, by rule 15: docs/rules.md.
 *
 * @module
 */

import { BATCH } from "./arrivals.ts";
import { endCancelled } from "./cancels.ts";
import { type Item, Line, placeBefore, release } from "./item.ts";
import type { Owner } from "./owners.ts";
import type { Queue } from "./queue.ts";

/** Key that was given up because each of its holders was lost. */
export interface GivenUp {
  readonly key: string;
  readonly payload: string;
  readonly attempts: number;
}

/**
 * Records that an owner was heard from. A gap of more than half a lease means that no process ran, or that the clock
 * jumped. Owners could not renew during the gap, so each lease lasts for at least one lease from the end of the gap.
 */
export function hear({ tx, owners }: Queue, lease: number): void {
  const { sql, queue, now, state } = tx;
  if (now - state.heard > lease / 2) {
    const [first] = owners.first(1);
    // Gaps before the lease of the first owner don't count any more: all owners have renewed since then.
    sql.run("DELETE FROM gaps WHERE queue = ? AND at <= ?", queue, first === undefined ? now : first.ends - lease);
    if (first !== undefined) sql.run("INSERT INTO gaps (queue, at) VALUES (?, ?)", queue, now);
  }
  state.heard = now;
}

/** Returns the end of a lease with its grace. After each renewal, an owner has one grace, for the first gap. */
function graceEnd({ tx }: Queue, { ends, hasGrace }: Owner, lease: number): number {
  if (hasGrace) return ends;
  const gap = tx.sql.get<{ at: number }>(
    "SELECT at FROM gaps WHERE queue = ? AND at > ? ORDER BY at LIMIT 1",
    tx.queue,
    ends - lease,
  );
  return gap === undefined ? ends : Math.max(ends, gap.at + lease);
}

/** Returns the end of the first lease of another owner, with its grace; `undefined` if there is none. */
export function firstEnd(queue: Queue, owner: string, lease: number): number | undefined {
  const first = firstOther(queue, owner);
  return first === undefined ? undefined : graceEnd(queue, first, lease);
}

function firstOther({ owners }: Queue, owner: string): Owner | undefined {
  return owners.first(2).find(({ name }) => name !== owner);
}

/**
 * Takes keys away from owners whose leases have ended. As soon as this begins, an owner has lost all of its keys. Does
 * not check in each call, because leases are long.
 *
 * @param few The number of keys from expired leases that a process may have at a time.
 */
export function expireLeases(queue: Queue, owner: string, lease: number, maxStalls: number, few: number): GivenUp[] {
  const { tx, owners } = queue;
  const { state, now } = tx;
  const between = lease / 20;
  if (now - state.checked < between) return [];
  const over = owners.first(BATCH).filter(({ ends }) => ends <= now);
  for (const gone of over) {
    if (gone.name === owner) continue; // the caller is alive
    const ends = graceEnd(queue, gone, lease);
    if (ends > now) {
      owners.extend(gone, ends);
    } else {
      owners.expire(gone);
      if (state.duty?.owner === gone.name) delete state.duty;
    }
  }
  state.checked = Math.min(now, (firstOther(queue, owner)?.ends ?? Infinity) - between);
  const gone = owners.firstExpired();
  if (gone === undefined) return [];
  const items = tx.items("owner = ? LIMIT ?", gone, BATCH);
  const givenUp = items.flatMap((item) => stall(queue, item, maxStalls));
  if (items.length < BATCH) owners.forgetExpired(gone);
  if (owners.firstExpired() !== undefined) state.checked = 0;
  // Several processes take these keys, because each takes only a few.
  for (let i = 0; i < Math.ceil(items.length / few) && !queue.isPaused; i++) if (!queue.waking.wake()) break;
  return givenUp;
}

/**
 * Takes a key away from its holder. The key returns to its earlier place. From the third stall on, the key was
 * processed alone, so the key itself caused the stall.
 */
function stall(queue: Queue, item: Item, maxStalls: number): GivenUp[] {
  const { tx } = queue;
  const { token, held_place, held_priority, is_added_again, priority, payload, key } = item;
  if (endCancelled(queue, item)) return [];
  queue.order.ended(item);
  release(item);
  item.stalls++;
  const isLast = item.stalls >= Math.max(maxStalls, 3);
  if (queue.budget !== undefined && (!isLast || is_added_again !== 0)) item.is_retry = 1; // no first attempt
  if (!isLast) {
    item.line = item.stalls === 1 ? Line.STALLED : Line.SUSPECT;
    item.place = held_place ?? placeBefore(token!);
    item.priority = is_added_again !== 0 ? Math.max(held_priority, priority) : held_priority;
  } else if (is_added_again !== 0) {
    item.stalls = 2;
    item.line = Line.SUSPECT;
    item.place = tx.tick();
  } else if (item.due !== null) {
    item.stalls = 2; // it is a suspect once it is due
  } else {
    const { stalls } = item;
    const attempts = queue.giveUp(item, `Each of its holders was lost: ${stalls}`, "stalled", stalls);
    return [{ key, payload: payload ?? "", attempts }];
  }
  return [];
}
