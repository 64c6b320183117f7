/**
 * Throttles that all processes share. Only the processes of one machine share a file, so the state lists all processes.
 *
 * @module
 */

import type { PermitsReply, PermitsRequest, TokensReply, TokensRequest } from "@workqueue/engine";
import { Buckets } from "./buckets.ts";
import type { PermitHolder, ThrottleState } from "./state.ts";
import type { Transaction } from "./transaction.ts";

/** Longest time for which a permit is reserved for a process that was told of it, in microseconds. */
const RESERVED = 1_000_000;
/** Time, in microseconds, by which a call may be late before a process that waits for a token loses its place. */
const LATE = 250_000;
/** Name of the bucket of a throttle. */
const BUCKET = "tokens";

/**
 * Tells a concurrency throttle how many permits a process uses and how many more it wants, and grants some of these.
 * Processes that wait stand in a line. A free permit is reserved for the first in the line, which is told and calls.
 */
export function permits(
  tx: Transaction,
  { process, leaseMs, limit, nth, using, wanted }: PermitsRequest,
): PermitsReply {
  const throttle = throttleOf(tx);
  const { holders, line, called } = throttle;
  const { now } = tx;
  const lease = leaseMs * 1000;
  const reserved = Math.min(lease / 3, RESERVED);
  extendLeases(tx, throttle, lease);
  for (const [gone, { ends }] of Object.entries(holders)) {
    if (ends > now || gone === process) continue;
    for (const part of [holders, line, called]) delete part[gone];
  }
  // Processes that did not come for their permits.
  for (const [other, at] of Object.entries(called)) if (at <= now - reserved) delete called[other];
  const usedByOthers = Object.entries(holders).filter(([name]) => name !== process)
    .reduce((sum, [, { count }]) => sum + count, 0);
  const before = holders[process];
  let granted = before?.nth === nth ? before.granted : 0; // a repeated call has the same reply
  const free = () => limit - usedByOthers - using - granted - Object.keys(called).length;
  if (before === undefined || nth > before.nth) {
    granted = 0;
    let place = process in called ? 0 : line[process] ?? now;
    delete called[process];
    delete line[process];
    while (free() > 0) {
      const first = firstOf(line);
      if (granted < wanted && (first === undefined || place <= first[1])) {
        granted += first === undefined ? Math.min(wanted - granted, free()) : 1;
        place = now;
      } else if (first !== undefined) {
        delete line[first[0]];
        called[first[0]] = now;
        tx.messages.set(first[0], 0);
      } else break;
    }
    if (granted < wanted) line[process] = place;
    if (using + wanted === 0) delete holders[process];
    else holders[process] = { count: using + granted, nth, granted, ends: now + lease, hasGrace: false };
  }
  const left = Math.max(free(), 0);
  if (granted >= wanted) return { granted, left, waitMs: undefined };
  const ends = Object.entries(holders).filter(([name]) => name !== process).map(([, { ends }]) => ends);
  // If the process for which a permit is reserved makes no call, the first process in the line gets the permit when it
  // calls.
  if (firstOf(line)?.[0] === process) ends.push(...Object.values(called).map((at) => at + reserved));
  const first = Math.min(...ends);
  return { granted, left, waitMs: first < Infinity ? Math.max(first - now, 1) / 1000 : undefined };
}

/**
 * Takes tokens from a bucket. A token that is there belongs to the process that has waited for longest, the next one to
 * the second, and so on. A process that takes a token goes to the end of the line. A process that doesn't call in time
 * loses its place.
 */
export function tokens(tx: Transaction, request: TokensRequest): TokensReply {
  const { process, burst, charged, wanted, longestMs } = request;
  const { takers } = throttleOf(tx);
  const { now } = tx;
  const bucket = { id: BUCKET, rate: request.rate === Infinity ? -1 : request.rate, burst };
  const buckets = new Buckets(tx);
  buckets.giveBack(bucket, -charged);
  for (const [late, { until }] of Object.entries(takers)) if (until <= now) delete takers[late];
  let place = takers[process]?.since ?? now;
  delete takers[process];
  const others = Object.values(takers);
  let [granted, waitUs]: [number, number | undefined] = [0, undefined];
  const take = (count: number, ahead: number) => {
    const result = buckets.take(bucket, count, ahead);
    granted += result.taken;
    waitUs = result.waitUs;
    return result.taken === count;
  };
  if (wanted > 0 && others.length === 0) {
    take(wanted, 0);
  } else if (wanted > 0 && take(1, others.filter(({ since }) => since < place).length)) {
    place = now;
    if (wanted > 1) take(wanted - 1, others.length);
  }
  if (granted >= wanted) return { granted, waitMs: undefined };
  const longest = longestMs * 1000;
  takers[process] = { since: place, until: now + Math.min(waitUs ?? longest, longest) + LATE };
  return { granted, waitMs: waitUs === undefined ? undefined : waitUs / 1000 };
}

function throttleOf({ state }: Transaction): ThrottleState {
  return state.throttle ??= { holders: {}, line: {}, called: {}, takers: {} };
}

/** After a gap in which nobody called, leases last for at least one more lease, because nobody could renew. */
function extendLeases({ state, now }: Transaction, { holders }: ThrottleState, lease: number): void {
  if (now - state.heard > lease / 2) {
    for (const holder of Object.values(holders)) {
      if (holder.hasGrace || holder.ends >= now + lease) continue;
      Object.assign(holder, { ends: now + lease, hasGrace: true } satisfies Partial<PermitHolder>);
    }
  }
  state.heard = now;
}

/** Returns the process that has waited for longest, and since when; `undefined` if none waits. */
function firstOf(line: Readonly<Record<string, number>>): [process: string, since: number] | undefined {
  let first: [string, number] | undefined;
  for (const entry of Object.entries(line)) if (first === undefined || entry[1] < first[1]) first = entry;
  return first;
}
