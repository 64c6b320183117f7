/** History of a queue: its adds, hand-outs and finishes, with what is known of the time at which each took effect. */

import type { FinishKind } from "@workqueue/engine";
import type { Call, Line, Reply } from "./event.ts";

/**
 * Point of a history. Points of one writer are in the order of its lines. Points of several writers are compared by
 * their times.
 */
export interface Point {
  readonly writer: number;
  readonly line: number;
  /** Time in milliseconds. */
  readonly at: number;
}

/** Reports whether a point certainly comes before another one. */
export function isBefore(one: Point, other: Point): boolean {
  return one.writer === other.writer ? one.line < other.line : one.at < other.at;
}

/** Period in which a call took effect. The end is missing if nobody knows whether the call took effect, or when. */
export interface Period {
  readonly from: Point;
  readonly to: Point | undefined;
}

/** Add of a key, or a finish that adds the key again. */
export interface Arrival {
  readonly key: string;
  readonly period: Period;
  /** Shortest delay, in milliseconds. */
  readonly minDelay: number;
  /** Longest delay, in milliseconds; infinite if it isn't known. */
  readonly maxDelay: number;
  readonly priority: number;
  /** Whether the key was added while it was processing, by its finish. */
  readonly byFinish: boolean;
}

/** Reports whether an arrival may have made its key ready after a hand-out of the key. */
export function mayComeAfter({ period, maxDelay }: Arrival, { token, from }: HandOut): boolean {
  if (period.to === undefined || !isBefore(period.to, from)) return true;
  return period.to.at + maxDelay + SLACK > token / 1000;
}

/** Request to end the work on a key. */
export interface Finish {
  readonly kind: FinishKind;
  readonly period: Period;
  /** Answer. Missing if there was none. */
  readonly counts: boolean | undefined;
}

/** Hand-out of a key to an owner. Its token is the time of the queue, in microseconds. */
export interface HandOut {
  readonly key: string;
  readonly token: number;
  readonly priority: number;
  readonly owner: Owner;
  readonly lease: Renewal;
  readonly bucket: { readonly id: string; readonly rate: number; readonly burst: number } | undefined;
  readonly from: Point;
  readonly to: Point;
  readonly finishes: Finish[];
}

/** Call that renewed a lease. */
interface Renewal {
  readonly to: Point;
  /**
   * Time at which the lease ended at the earliest, in milliseconds. Includes the renewals after this one, up to the
   * first one that may have come too late.
   */
  until: number;
}

/** Owner of leases. */
export interface Owner {
  /** Calls that were answered and that renewed the lease. */
  readonly renewals: Renewal[];
  /** Calls that asked for keys, each with the maximum number of keys. */
  readonly requests: { readonly period: Period; readonly keys: number }[];
  /** Calls that may have ended some of its leases, each with the tokens that it kept. */
  readonly ends: { readonly from: Point; readonly kept: ReadonlySet<string> }[];
}

/** Pause of the queue, or of a group. */
export interface Pause {
  readonly group: string | undefined;
  readonly period: Period;
  /** Earliest end, in milliseconds. */
  readonly until: number;
}

/** Call whose reply was lost. It took effect between two times in milliseconds, or never. */
export interface Doubt {
  readonly from: number;
  readonly to: number;
  /** Maximum number of keys that it took. */
  readonly keys: number;
}

/** Arrival whose delay and priority are not known. */
const SOME_TIME = { minDelay: 0, maxDelay: Infinity, priority: 0, byFinish: false } as const;

/** Finishes after which the key is handed out again. */
const RETURNS: ReadonlySet<FinishKind> = new Set(["requeueAfter", "retry", "failed", "handedBack"]);

/** Time, in milliseconds, by which the clocks of writers and the queue's time may differ. */
export const SLACK = 2;

/** Time, in milliseconds, in which a call takes effect. */
const DOUBT = 1000;

/** Reports whether a call was certainly sent after a hand-out took effect. */
function isAfter(call: Point, { token, to }: HandOut): boolean {
  return call.writer === to.writer ? call.line > to.line : call.at > token / 1000 + SLACK;
}

export class History {
  /** Adds of each key, and finishes that added it again, in the order in which they were sent. */
  readonly arrivals = new Map<string, Arrival[]>();
  /** Hand-outs of each key, by token. */
  readonly handOutsOf = new Map<string, HandOut[]>();
  /** All hand-outs, by token. */
  readonly handOuts: HandOut[] = [];
  /** Points at which keys were seen as given up or canceled. */
  readonly dropped = new Map<string, Point[]>();
  /** Keys that were promoted, so that their delays may have been shorter. */
  readonly promoted = new Set<string>();
  /** Calls that may have made any key ready that was given up. */
  readonly redrives: Period[] = [];
  /** Calls that may have forgotten any key that was given up. */
  readonly discards: Period[] = [];
  readonly pauses: Pause[] = [];
  /** Calls that may have ended pauses of the queue, or of a group. */
  readonly resumes: { readonly group: string | undefined; readonly period: Period }[] = [];
  /** Calls that may have taken keys without any process knowing of it. */
  readonly doubts: Doubt[] = [];
  readonly writers: number;
  readonly #owners = new Map<string, Owner>();
  readonly #byToken = new Map<string, HandOut>();

  /** @param files The lines of each writer. */
  constructor(files: readonly (readonly Line[])[]) {
    this.writers = files.length;
    const finishes: [token: string, finish: Finish][] = [];
    for (const [writer, lines] of files.entries()) this.#read(writer, lines, finishes);
    this.handOuts.sort((one, other) => one.token - other.token);
    for (const handOut of this.handOuts) listIn(this.handOutsOf, handOut.key).push(handOut);
    for (const [token, finish] of finishes) this.#byToken.get(token)?.finishes.push(finish);
    for (const period of this.redrives) {
      for (const key of this.dropped.keys()) this.#arrive({ ...SOME_TIME, key, period: { ...period, to: undefined } });
    }
    for (const each of this.arrivals.values()) each.sort((one, other) => one.period.from.at - other.period.from.at);
    for (const { renewals } of this.#owners.values()) {
      for (let i = renewals.length - 2; i >= 0; i--) {
        const [one, next] = [renewals[i]!, renewals[i + 1]!];
        if (next.to.at <= one.until) one.until = Math.max(one.until, next.until);
      }
    }
  }

  /** Reports whether a hand-out was certainly in force when another one was made. */
  isHeldAt(one: HandOut, next: HandOut): boolean {
    const { token, owner, lease, to, finishes } = one;
    if (lease.until <= next.token / 1000 + SLACK) return false;
    if (finishes.some(({ counts, period }) => counts !== false && !isAfter(period.from, next))) return false;
    return !owner.ends.some(({ from, kept }) => isBefore(to, from) && !kept.has(`${token}`) && !isAfter(from, next));
  }

  #read(writer: number, lines: readonly Line[], finishes: [string, Finish][]): void {
    const replies = new Map<number, { line: number; reply: Line }>();
    for (const [line, each] of lines.entries()) {
      if ("reply" in each) replies.set(each.reply, { line, reply: each });
      if ("failed" in each) replies.set(each.failed, { line, reply: each });
    }
    for (const [line, call] of lines.entries()) {
      if (!("call" in call)) continue;
      const from: Point = { writer, line, at: call.at };
      const answer = replies.get(call.call);
      if (answer !== undefined && "failed" in answer.reply) {
        if (!answer.reply.mayHaveRun) continue;
        this.#readCall(call, from, undefined, {}, finishes);
      } else {
        const to = answer && { writer, line: answer.line, at: answer.reply.at };
        this.#readCall(call, from, to, answer?.reply as Reply ?? {}, finishes);
      }
    }
  }

  #readCall(call: Call, from: Point, to: Point | undefined, reply: Reply, finishes: [string, Finish][]): void {
    const period: Period = { from, to };
    switch (call.do) {
      case "add":
        for (const [key, delay, priority] of call.rows) {
          this.#arrive({ key, period, minDelay: delay, maxDelay: delay, priority, byFinish: false });
        }
        return;
      case "addLimited":
        if (reply.isSo !== false) this.#arrive({ ...SOME_TIME, key: call.key, period });
        return;
      case "redrive":
        this.redrives.push(period);
        return;
      case "discard":
        this.discards.push(period);
        return;
      case "turn":
        return this.#readTurn(call, period, reply, finishes);
      case "renew":
        if (reply.isSo) this.#owner(from, call.owner).renewals.push({ to: to!, until: from.at + call.lease });
        return;
      case "release":
        this.#doubtBefore(period, this.#owner(from, call.owner));
        this.#owner(from, call.owner).ends.push({ from, kept: new Set(call.known) });
        return;
      case "leave":
        this.#owner(from, call.owner).ends.push({ from, kept: new Set() });
        return;
      case "cancel":
        if (reply.isSo !== false) listIn(this.dropped, call.key).push(to ?? from);
        return;
      case "promote":
        this.promoted.add(call.key);
        return;
      case "pause":
        if (reply.isSo !== false) this.pauses.push({ group: call.group, period, until: from.at + call.duration });
        return;
      case "resume":
        this.resumes.push({ group: call.group, period });
    }
  }

  #readTurn(
    { owner: name, lease, wanted, bucket, finishes }: Extract<Call, { do: "turn" }>,
    period: Period,
    { taken = [], answers = [], givenUp = [], isLost = false }: Reply,
    all: [string, Finish][],
  ): void {
    const { from, to } = period;
    const owner = this.#owner(from, name);
    if (wanted > 0) owner.requests.push({ period, keys: wanted });
    if (to === undefined && wanted > 0) this.doubts.push({ from: from.at, to: from.at + DOUBT, keys: wanted });
    if (isLost) owner.ends.push({ from, kept: new Set() });
    const renewal = { to: to!, until: from.at + lease };
    if (taken.length > 0) owner.renewals.push(renewal);
    for (const [key, token, priority] of taken) {
      const handOut = {
        key,
        token: Number(token),
        priority,
        owner,
        lease: renewal,
        bucket,
        from,
        to: to!,
        finishes: [],
      };
      this.handOuts.push(handOut);
      this.#byToken.set(token, handOut);
    }
    for (const key of givenUp) listIn(this.dropped, key).push(to!);
    for (const [i, [key, token, asked, delay]] of finishes.entries()) {
      const answer = answers[i];
      if (typeof answer === "number") continue; // nothing was changed
      const isCancelled = answer === "cancelled";
      const kind = isCancelled ? "succeeded" : asked;
      all.push([token, { kind, period, counts: isCancelled || answer }]);
      if (answer === false) continue;
      if (kind === "givenUp") listIn(this.dropped, key).push(to ?? from);
      if (!RETURNS.has(kind)) continue;
      const minDelay = kind === "requeueAfter" ? delay : 0;
      const maxDelay = kind === "handedBack" ? 0 : kind === "requeueAfter" ? delay : Infinity;
      this.#arrive({ key, period, minDelay, maxDelay, priority: 0, byFinish: true });
    }
  }

  /** Records that requests that had no reply when their owner handed keys back may have taken others before that. */
  #doubtBefore(release: Period, { requests }: Owner): void {
    for (const { period: { from, to }, keys } of requests) {
      if (to !== undefined && isBefore(to, release.from)) continue;
      this.doubts.push({ from: from.at, to: (release.to ?? release.from).at, keys });
    }
  }

  #arrive(arrival: Arrival): void {
    listIn(this.arrivals, arrival.key).push(arrival);
  }

  #owner({ writer }: Point, name: string): Owner {
    const id = `${writer} ${name}`;
    let owner = this.#owners.get(id);
    if (owner === undefined) this.#owners.set(id, owner = { renewals: [], requests: [], ends: [] });
    return owner;
  }
}

/** Returns the list of a key, which is empty at first. */
export function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, list = []);
  return list;
}
