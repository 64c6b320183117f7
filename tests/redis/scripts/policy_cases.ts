/**
 * Cases of each policy: random inputs, and the outcomes that the policy in TypeScript has for them. Lua that decides
 * the same must have the same outcomes. Times are in microseconds, as in Lua.
 */

import {
  type CreditNumbers,
  endPause,
  FairShare,
  firstsBefore,
  type GroupNumbers,
  headStartOf,
  matcherOf,
  newCredit,
  newFrom,
  nextRedriveAt,
  priorityWithin,
  RetryCredit,
  setPause,
} from "../../../lib/policy/mod.ts";
import { KeptItems } from "../../../lib/queue/kept_items.ts";
import { seeded } from "../faults/seeded.ts";

/** Random numbers that depend only on the seed. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  /** Returns a whole number from `min` to `max`. */
  between(min: number, max: number): number {
    return min + Math.floor(this.#next() * (max - min + 1));
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)]!;
  }
}

/** Inputs of Lua, and the outcomes that it must have. Infinity is `false`, which Lua replies as `false`, too. */
export interface Case {
  readonly inputs: unknown;
  readonly outcomes: unknown;
}

/** Time of the server at which cases begin, in microseconds. Times since 1970 use most of a double's precision. */
const START = 1_800_000_000_000_000;
const SECOND = 1_000_000;

/** Returns a case of each policy, by name. */
export const MAKERS: Readonly<Record<string, (random: Random) => Case>> = {
  "retry budget": retryBudgetCase,
  "fair turns": fairCase,
  "priorities": priorityCase,
  "search of given-up items": searchCase,
  "redrive": redriveCase,
  "retention": retentionCase,
};

function finite(number: number): number | false {
  return Number.isFinite(number) ? number : false;
}

/** Steps of a queue whose retries need budget: first attempts that begin, retries that are due, and looks. */
function retryBudgetCase(random: Random): Case {
  const options = {
    ratio: random.one([0, 0.1, 0.2, 0.5, 1, 1 / 3, random.between(0, 2000) / 1000]),
    minRate: random.one([0, 0.5, 1, 3, 1000, random.between(1, 100_000) / 100]),
  };
  const numbers: CreditNumbers = newCredit();
  const credit = new RetryCredit(options, numbers, SECOND);
  const steps: unknown[] = [];
  const outcomes: unknown[] = [];
  let [now, blocked] = [START, 0];
  for (let left = random.between(5, 40); left > 0; left--) {
    const bounds = [1, 5000, 10_000, 10 * SECOND - 10_000, 10 * SECOND]; // where deposits begin and expire
    now += random.one([random.one(bounds), random.between(1, 2 * SECOND), random.between(1, 12 * SECOND)]);
    if (credit.opensAt > now && credit.opensAt < Infinity && random.between(0, 2) === 0) {
      now = Math.ceil(credit.opensAt);
    }
    const kind = random.one(["firsts", "firsts", "retry", "retry", "retry", "look"]);
    const count = kind === "firsts" ? random.between(1, 30) : 0;
    steps.push([now, kind, count]);
    if (kind === "firsts") credit.deposit(now, count);
    if (kind === "retry" && (blocked > 0 || !credit.withdraw(now))) blocked++;
    if (kind !== "retry") { while (blocked > 0 && credit.withdraw(now)) blocked--; }
    const opensAt = credit.isEnough(now) ? now : Math.ceil(credit.opensAt);
    outcomes.push([
      blocked,
      blocked > 0 && finite(opensAt),
      blocked > 0 && finite(firstsBefore(numbers, options)),
    ]);
  }
  return { inputs: { ...options, steps }, outcomes };
}

/** Group with random numbers, on which one thing happens. */
function fairCase(random: Random): Case {
  const now = START + random.between(0, 1000) * SECOND;
  const near = () => now + random.one([0, -1, 1, random.between(-3 * SECOND, 3 * SECOND)]);
  const limit = random.one([0, 0, 1, 3, 10]);
  const rate = random.one([0, 0, 1, 3, 7, 100, 1000, 12_345]);
  const interval = rate === 0 ? 0 : SECOND / rate;
  const burst = rate === 0 ? 0 : random.one([1, 2, 10]);
  const byTime = random.one([0, 0, 1] as const);
  const all = {
    virtual: random.between(0, 10_000) / 3,
    latest: random.between(0, 40_000) / 3,
    mean: random.one([1000, random.between(1, 100_000) / 7]),
    count: random.between(0, 100),
  };
  const isPaused = random.between(0, 2) === 0;
  const group: GroupNumbers & { size: number } = {
    start: random.between(0, 30_000) / 3,
    finish: random.between(0, 30_000) / 3,
    processing: random.between(0, 4),
    ready: 0,
    size: random.between(0, 12),
    cost: 1 / random.one([1, 2, 3, 0.5, 7.3]),
    full: interval === 0 ? 0 : random.one([0, near(), now + interval, now + random.between(0, 12) * interval]),
    mean: random.between(0, 100_000) / 7,
    count: random.one([0, 1, 99, 100, random.between(0, 100)]),
    pause: isPaused ? near() : null,
    probe: isPaused ? random.one([null, null, "probe"]) : null,
  };
  let hasTurn = random.between(0, 1) === 0;
  const hadTurn = random.between(0, 1) === 0;
  const [what, value] = random.one<[what: string, value: number | string]>([
    ["settle", 0],
    ["hand out", "key"],
    ["end", random.one(["probe", "key"])],
    ["pause", near()],
    ["resume", 0],
  ]);
  const token = now - random.between(0, 100_000);
  const charged = byTime === 1 ? `${random.between(0, 100_000)}` : "n";
  const rules = {
    maxPerGroup: limit > 0 ? limit : Infinity,
    interval,
    burst,
    isByTime: byTime === 1,
    round: Math.ceil,
  };
  const plan = ["fair", "/", ["fifo"], limit, interval, burst, byTime, 0];
  const inputs = { plan, now, all: { ...all }, group: numbersOf(group), hasTurn, hadTurn, what, value, token, charged };

  const share = new FairShare(rules, all);
  let note: string | false = false;
  if (what === "hand out") {
    const cost = share.handOut(group, value, now);
    if (limit > 0 || byTime === 1 || group.pause !== null) {
      group.processing++;
      note = byTime === 1 ? `${Math.round(cost / group.cost)}` : "n";
    }
  } else if (what === "end") {
    share.end(group, value);
    if (byTime === 1) {
      const more = share.correct(group, Math.max(now - token, 0), Number(charged));
      if (hasTurn) group.start += more;
    }
  } else if (what === "pause") setPause(group, value as number);
  else if (what === "resume") endPause(group);
  const changesAt = share.limit(group, group.size, now);
  const isNewTurn = group.ready > 0 && (what === "settle" && hadTurn || !hasTurn);
  if (isNewTurn) group.start = share.nextStart(group, what === "settle" && hadTurn);
  hasTurn = group.ready > 0;
  const isIdle = group.size === 0 && group.processing === 0;
  const keptUntil = share.keptUntil(group);
  const set = !isIdle ? changesAt < Infinity ? "c" : "-" : keptUntil > now ? "k" : "i";
  const number = { "c": changesAt, "-": 0, "k": keptUntil, "i": newFrom(group) }[set];
  const { reason, until } = share.blockOf(group, now);
  const isBlocked = group.ready < group.size;
  return {
    inputs,
    outcomes: [
      [group.start, hasTurn, group.finish, group.processing, group.ready, group.full, group.mean, group.count],
      [group.pause ?? false, group.probe ?? false, set, set === "i" && group.pause !== null ? "last" : number],
      [all.virtual, all.latest, all.mean, all.count, note],
      isBlocked && [reason, finite(until)],
    ],
  };
}

/** Returns a copy of the numbers of a group without members that are `null`, because Lua has another `null` in JSON. */
function numbersOf(group: GroupNumbers): object {
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== null));
}

function priorityCase(random: Random): Case {
  const min = random.between(-100, 100);
  const max = min + random.between(1, 200);
  const point = random.one([1000, random.between(1, 10_000_000) / 7, 3_155_760_000_000_000 / (max - min)]);
  const place = START + random.between(0, 1000 * SECOND);
  const priority = random.between(-300, 300) / random.one([1, 2, 3]);
  const isAging = random.between(0, 1) === 0;
  const within = priorityWithin(min, max, priority);
  return {
    inputs: { plan: isAging ? ["aging", min, max, point] : ["strict", min, max], place, priority },
    outcomes: isAging ? place - Math.round(headStartOf(min, point, within)) : -within,
  };
}

/** Texts with ASCII letters only: Lua ignores the case of no others. */
function searchCase(random: Random): Case {
  const text = (most: number) =>
    Array.from({ length: random.between(0, most) }, () => random.one(["a", "A", "b", "B", "%", ".", "é", "日"])).join(
      "",
    );
  const [search, key, error] = [text(3), text(6), text(6)];
  return { inputs: { search, key, error }, outcomes: matcherOf(search)({ key, error }) };
}

/** Steps of a redrive of some keys. Each outcome has the number of added keys, and the time of the next step. */
function redriveCase(random: Random): Case {
  const [CATCH_UP, PAUSE] = [SECOND, 20_000];
  const count = random.between(1, 60);
  const rate = random.one([undefined, 1, 3, 10, 1000, random.between(1, 100_000) / 100]);
  let now = START;
  let [next, redriven] = [now, 0];
  const times: number[] = [];
  const outcomes: unknown[] = [];
  for (let left = random.between(1, 8); left > 0; left--) {
    times.push(now);
    while (redriven < count && (rate === undefined || next <= now)) {
      redriven++;
      if (rate !== undefined) next = nextRedriveAt(next, now, SECOND / rate, CATCH_UP);
    }
    const stepAt = Math.ceil(Math.max(next, now + PAUSE));
    outcomes.push([redriven, redriven < count && stepAt]);
    if (redriven === count) break;
    now = Math.max(stepAt, now) + random.one([0, random.between(0, SECOND), random.between(0, 5 * SECOND)]);
  }
  return { inputs: { count, rate: rate ?? false, times }, outcomes };
}

/** Keys that were given up at some times. The outcome has the number of keys that are dropped. */
function retentionCase(random: Random): Case {
  const now = START;
  const ages = Array.from({ length: random.between(0, 40) }, () => random.between(0, 100)).sort((a, b) => b - a);
  const max = random.between(1, 40);
  const maxAge = random.one([undefined, random.between(1, 100)]);
  const kept = new KeptItems<number>();
  for (const [key, age] of ages.entries()) {
    const givenUpAt = now - age;
    const times = { firstFailedAt: givenUpAt, givenUpAt };
    kept.add({ item: key, key, error: "", attempts: 1, reason: "terminal", group: undefined, ...times });
  }
  return { inputs: { now, ages, max, maxAge: maxAge ?? false }, outcomes: kept.drop(max, now - (maxAge ?? Infinity)) };
}
