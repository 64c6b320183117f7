/**
 * Ends the work on keys, and hands out others.
 *
 * @module
 */

import {
  entryOf,
  type Finish,
  type FinishAnswer,
  type FinishKind,
  type RetryKind,
  type TakenKey,
  type TurnReply,
  type TurnRequest,
  unknownKind,
} from "@workqueue/engine";
import { PRODUCT } from "../product.ts";
import { continueRedrive } from "./redrive.ts";
import type { AddSettings } from "./adds.ts";
import { addAfter, addNow, delayUntil, endHandOut, makeDueReady, promoteDue } from "./arrivals.ts";
import { isGone, type Item, leaveLine, Line, placeInTurn } from "./item.ts";
import { expireLeases, firstEnd, type GivenUp, hear } from "./leases.ts";
import type { Taken } from "./order.ts";
import { OF_OWNER } from "./owners.ts";
import type { Queue } from "./queue.ts";
import { NONE_GIVEN_UP } from "./state.ts";
import { toMicroseconds } from "./time.ts";

/** Settings of a process for its turns. Times are in microseconds. */
export interface TurnSettings extends AddSettings {
  readonly lease: number;
  readonly maxStalls: number;
  /** Kind of the retries of the process. */
  readonly retry: RetryKind;
  /** Rules for counting failures, as JSON. */
  readonly rules: string;
  readonly measuresTimes: boolean;
  /** Time for which outcomes of waits are kept. */
  readonly keepOutcomesFor: number | undefined;
}

/** Maximum number of stalled keys that are searched for one whose group may have another key, and read at once. */
const [LOOKS, PAGE] = [1000, 100];

/** Lease in microseconds. With a shorter one, idle processes must call more often than they otherwise do. */
const SHORT_LEASE = 15_000_000;

/** Whether each outcome ends the waits for its key. A key that is given up ends them in `Queue.giveUp`. */
const ENDS_WAITS: Readonly<Record<FinishKind, boolean>> = {
  done: true,
  succeeded: true,
  requeueAfter: true,
  retry: false,
  failed: false,
  handedBack: false,
  givenUp: false,
};

/** Finishes keys of a process, and hands out others to it. */
export function turn(queue: Queue, request: TurnRequest, settings: TurnSettings): TurnReply {
  return new Turn(queue, request, settings).run();
}

class Turn {
  readonly #queue: Queue;
  readonly #request: TurnRequest;
  readonly #settings: TurnSettings;
  /** Number of keys that stalled once that a process may have at a time. */
  readonly #few: number;
  /** Number of keys that stalled before and that were taken in this turn. */
  #stalled = 0;
  #pause: number | undefined = undefined;
  #isAlone = false;
  /** Whether a bucket has fewer tokens than keys are wanted. */
  #isShort = false;

  constructor(queue: Queue, request: TurnRequest, settings: TurnSettings) {
    this.#queue = queue;
    this.#request = request;
    this.#settings = settings;
    this.#few = Math.max(1, Math.floor((request.known + request.wanted) / 8));
  }

  run(): TurnReply {
    const { known, owner, process, wanted, finishes } = this.#request;
    const queue = this.#queue;
    makeDueReady(queue);
    continueRedrive(queue);
    queue.waits.forgetOld();
    hear(queue, this.#settings.lease);
    const answers = finishes.map((finish) => this.#finish(finish));
    let [isLost, givenUp, taken]: [boolean, GivenUp[], Taken[]] = [false, [], []];
    if (wanted > 0) {
      const lease = queue.owners.leaseOf(owner);
      isLost = lease === "expired" || known > 0 && lease === "none";
      if (!isLost) {
        givenUp = expireLeases(queue, owner, this.#settings.lease, this.#settings.maxStalls, this.#few);
        taken = queue.isPaused ? [] : this.#takeWithBudget();
        // The owner takes other keys, so others may try suspects.
        if (queue.tx.state.duty?.owner === owner && !this.#isAlone) delete queue.tx.state.duty;
      }
    }
    const keys = taken.length > 0 ? this.#hold(taken) : [];
    if (wanted > 0 && !isLost && taken.length < wanted && !this.#isAlone && !this.#isShort) {
      this.#beIdle();
    } else if (queue.waking.hasIdle) {
      if (queue.waking.end(process)) queue.waking.plan();
      if (taken.length === wanted || this.#isAlone) queue.waking.wakeForReady();
    }
    if (queue.tx.mayChangeEarlier && queue.waking.hasIdle) queue.waking.plan(process);
    return {
      pauseMs: this.#pause === undefined ? undefined : this.#pause / 1000,
      isPaused: queue.isPaused,
      isLost,
      isAlone: this.#isAlone,
      answers,
      taken: keys,
      givenUp,
    };
  }

  // ---- Finishes

  /** Returns whether the lease was valid, or the number of failures for which the limiter's input is needed. */
  #finish(asked: Finish): FinishAnswer {
    const { key, token, delay = 0, priority } = asked;
    const queue = this.#queue;
    const item = queue.tx.item(key);
    promoteDue(queue, item);
    if (item.token === null || String(item.token) !== token) return false;
    const { held_place, held_priority, cancelled } = item;
    const finish: Finish = cancelled === null ? asked : { key, token, kind: "succeeded" };
    const { kind } = finish;
    if (priority !== undefined && priority !== 0) queue.tx.state.isRanked = true;
    let place: number | undefined;
    if (kind !== "handedBack") item.stalls = 0;
    const delayUs = toMicroseconds(delay);
    const failures = this.#carryOut(item, finish, delayUs, priority ?? held_priority);
    if (failures !== undefined) return failures;
    if (cancelled === null && ENDS_WAITS[kind]) {
      // If the hand-out is only done, waits go on that were kept by a retry.
      const from = kind === "done" ? 0 : undefined;
      queue.waits.end(key, finish.result ?? "done", item.token, this.#settings.keepOutcomesFor, from);
    }
    if (kind === "handedBack") place = held_place ?? undefined;
    endHandOut(queue, item, kind === "handedBack", place);
    if (kind === "done" && isGone(item)) queue.waits.end(key, "cancelled"); // the retry was cancelled
    return cancelled === null ? true : "cancelled";
  }

  #carryOut(
    item: Item,
    { kind, given = "", reason = "", why = "terminal", attempts, maxRetries, rules = this.#settings.rules }: Finish,
    delay: number,
    priority: number,
  ): number | undefined {
    const queue = this.#queue;
    const { state } = queue.tx;
    const { folds, retry } = this.#settings;
    switch (kind) {
      case "done":
        return undefined;
      case "succeeded":
        queue.failures.forget(item.key);
        return undefined;
      case "requeueAfter":
        queue.failures.forget(item.key);
        addAfter(queue, item, delay, this.#settings, priority);
        return undefined;
      case "handedBack":
        addNow(queue, item, this.#settings, priority);
        return undefined;
      case "retry":
      case "failed": {
        const result = queue.failures.when(rules, item.key, given, item.token!, delay);
        if ("failures" in result) return result.failures;
        if (reason !== "") {
          state.failed++;
          queue.failures.keepError(item.key, reason);
        }
        const wait = Math.max(toMicroseconds(result.delay), delay);
        if (kind === "failed" && folds) this.#fold(item, wait, priority);
        else addAfter(queue, item, wait, this.#settings, priority, retry);
        return undefined;
      }
      case "givenUp":
        entryOf(NONE_GIVEN_UP, PRODUCT, "reason", why);
        if (maxRetries !== undefined) {
          const left = queue.failures.ifRetriesLeft(rules, item.key, item.token!, maxRetries);
          if (left !== undefined) return left;
        }
        state.failed++;
        // A key that was added again during processing, or that is delayed, is not given up.
        if (item.is_added_again === 0 && item.due === null) {
          queue.giveUp(item, reason, why, 1, attempts);
        } else queue.failures.forget(item.key);
        return undefined;
      default:
        throw unknownKind(PRODUCT, "outcome", kind);
    }
  }

  /** Adds a key again because its attempt failed, and folds adds into the retry, also an add during the attempt. */
  #fold(item: Item, wait: number, priority: number): void {
    const queue = this.#queue;
    const { retry } = this.#settings;
    if (item.is_added_again !== 0) {
      priority = Math.max(priority, item.priority);
      item.is_added_again = item.is_retry = item.priority = 0;
    }
    if (wait <= 0) return addNow(queue, item, this.#settings, priority, retry);
    delayUntil(queue, item, queue.tx.tick() + wait, priority, retry);
    item.is_folding = 1;
  }

  // ---- Hand-outs

  /** Takes keys. First attempts may give credit to blocked retries, which are taken in their places. */
  #takeWithBudget(): Taken[] {
    const { budget } = this.#queue;
    const { wanted } = this.#request;
    if (budget === undefined) return this.#take(wanted, 0);
    const all: Taken[] = [];
    while (all.length < wanted && !this.#isAlone) {
      const more = this.#take(Math.min(wanted - all.length, budget.firstsBefore), all.length);
      if (more.length === 0) break;
      all.push(...more);
      budget.begin(more.filter(({ item }) => item.is_retry === 0).length);
    }
    return all;
  }

  #take(wanted: number, before: number): Taken[] {
    const queue = this.#queue;
    const { lines } = queue.tx.state;
    const { throttle } = this.#request;
    queue.tx.flush();
    let [suspect, few]: [Item | undefined, number] = [undefined, 0];
    if (lines[Line.STALLED] + lines[Line.SUSPECT] > 0) {
      if (before === 0) suspect = this.#findSuspect();
      few = this.#isAlone ? 0 : this.#fewCount();
    }
    const wish = this.#isAlone ? suspect === undefined ? 0 : 1 : wanted;
    const take = (count: number) =>
      suspect === undefined ? this.#takeReady(Math.min(few, count), count) : [this.#takeStalled(suspect)];
    if (wish === 0) return [];
    if (throttle === undefined) return take(wish);
    const { buckets } = queue.failures;
    const available = this.#isAlone ? 1 : Math.min(wish, few + queue.order.ready);
    const bucket = { ...throttle, rate: throttle.rate === Infinity ? -1 : throttle.rate };
    const { taken: count, waitUs } = buckets.take(bucket, available);
    this.#isShort = count < available;
    if (waitUs !== undefined && this.#isShort) this.#note(waitUs);
    const keys = count === 0 ? [] : take(count);
    buckets.giveBack(bucket, count - keys.length); // not all keys that are available may be handed out now
    return keys;
  }

  /**
   * Takes keys in the order of their places: at most `few` that stalled once, and ready keys. In a queue with a
   * discipline, the stalled keys go first, because they were handed out before.
   */
  #takeReady(few: number, count: number): Taken[] {
    const { tx, order } = this.#queue;
    if (few === 0) return order.take(count);
    if (tx.state.discipline !== undefined) {
      const first: Taken[] = [];
      while (first.length < few) {
        const item = this.#firstIn(Line.STALLED);
        if (item === undefined) break;
        first.push(this.#takeStalled(item));
      }
      return [...first, ...order.take(count - first.length)];
    }
    const stalled = tx.items(`line = ${Line.STALLED} ORDER BY place LIMIT ?`, few);
    const first = [...stalled, ...order.list(count)].sort((one, other) => one.place! - other.place!).slice(0, count);
    return first.map(({ key }) => this.#takeStalled(tx.item(key)));
  }

  #takeStalled(item: Item): Taken {
    const { order } = this.#queue;
    const place = item.place!;
    if (item.stalls > 0) this.#stalled++;
    leaveLine(item);
    order.admit(item);
    return { item, place };
  }

  /** Returns the first key of a line whose group may have another key, among the first keys of the line. */
  #firstIn(line: number): Item | undefined {
    const { tx, order } = this.#queue;
    for (let from = 0; from < LOOKS; from += PAGE) {
      const items = tx.items(`line = ${line} ORDER BY place LIMIT ${PAGE} OFFSET ?`, from);
      const found = items.find((item) => order.admits(item));
      if (found !== undefined || items.length < PAGE) return found;
    }
    return undefined;
  }

  /**
   * Returns the suspect to take, if one is next in order. In a queue with a discipline, suspects go first, because they
   * were handed out before. One owner at a time has the duty to try suspects, and takes no other keys. Once its earlier
   * keys are finished, it takes one suspect after another. An owner without keys takes the duty from an owner that
   * still has other keys.
   */
  #findSuspect(): Item | undefined {
    const { tx } = this.#queue;
    const { owner, isBusyElsewhere = false } = this.#request;
    const suspect = this.#firstIn(Line.SUSPECT);
    if (suspect === undefined) return undefined;
    if (tx.state.discipline === undefined) {
      const [next] = tx.items("line = ? ORDER BY place LIMIT 1", tx.state.line);
      if (Math.min(next?.place ?? Infinity, tx.behind ?? Infinity) < suspect.place!) return undefined;
    }
    const holdsNothing = !isBusyElsewhere && !this.#queue.owners.hasKeys(owner);
    const { duty } = tx.state;
    if (this.#dutyLeft() !== undefined && (duty!.isAlone || !holdsNothing)) return undefined;
    tx.state.duty = { owner, ends: tx.now + this.#settings.lease, isAlone: holdsNothing };
    this.#isAlone = true;
    return holdsNothing ? suspect : undefined;
  }

  /** Returns the microseconds until another owner's duty to try suspects ends, or `undefined` if none has it. */
  #dutyLeft(): number | undefined {
    const { state: { duty }, now } = this.#queue.tx;
    return duty !== undefined && duty.owner !== this.#request.owner && duty.ends > now ? duty.ends - now : undefined;
  }

  /** Returns the number of keys that stalled once that this owner may take. */
  #fewCount(): number {
    const { tx } = this.#queue;
    const held = tx.sql.get<{ count: number }>(
      `SELECT COUNT(*) AS count FROM items WHERE queue = ? AND ${OF_OWNER} AND stalls > 0`,
      tx.queue,
      tx.queue,
      this.#request.owner,
    )!;
    return Math.max(0, Math.min(this.#few - held.count - this.#stalled, tx.state.lines[Line.STALLED]));
  }

  #hold(all: readonly Taken[]): TakenKey[] {
    const { tx, owners, failures, waits } = this.#queue;
    const { hasItems, lease, measuresTimes } = this.#settings;
    const id = owners.renew(this.#request.owner, lease, this.#request.tellsAdds ?? false);
    tx.state.handedOut += all.length;
    return all.map(({ item, place }) => {
      const { priority, key } = item;
      item.token = tx.tick();
      item.owner = id;
      item.held_priority = priority;
      item.held_place = tx.state.discipline === undefined ? null : place;
      item.priority = item.is_retry = 0;
      const failure = failures.find(key);
      const since = placeInTurn(place);
      return {
        key,
        token: String(item.token),
        payload: hasItems || tx.state.hasPayloads ? item.payload ?? undefined : undefined,
        failures: failure?.count ?? 0,
        priority: tx.state.isRanked ? priority : undefined,
        trace: item.trace ?? undefined,
        readyForMs: measuresTimes ? (tx.now - since) / 1000 : undefined,
        isAwaited: waits.begin(key) || undefined,
      };
    });
  }

  // ---- Waiting

  #note(delay: number): void {
    this.#pause = Math.max(Math.min(this.#pause ?? Infinity, delay), 0);
  }

  /**
   * Records that the process got fewer keys than it wanted. A message tells it of new work. It checks by itself for
   * changes that come with time: ends of leases, and due keys if it is one of the two processes that check for these.
   */
  #beIdle(): void {
    const queue = this.#queue;
    const { tx, owners, waking } = queue;
    const { owner, process } = this.#request;
    const { lease } = this.#settings;
    const isFirst = waking.begin(process);
    if (!owners.hasKeys(owner)) owners.forget(owner);
    if (lease < SHORT_LEASE && isFirst) this.#note(lease / 3);
    const look = waking.plan(process);
    if (look !== undefined) this.#note(look - tx.now);
    const over = owners.firstExpired() !== undefined ? tx.now : firstEnd(queue, owner, lease);
    if (over !== undefined) {
      this.#note(Math.min(Math.max(over, tx.state.checked + lease / 20) - tx.now, lease / 3));
    }
    const duty = this.#dutyLeft();
    if (duty !== undefined && tx.state.lines[Line.SUSPECT] > 0) this.#note(duty);
  }
}
