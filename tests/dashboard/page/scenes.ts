/** Queues with typical problems, as someone on call may find them. */

import type { History, QueueDetails } from "@workqueue/dashboard";

const SAMPLES = 180;
const END = Date.UTC(2026, 10, 22, 3, 4, 5);

type Shape = (at: number) => number; // `at` is from 0 (a quarter of an hour ago) to 1 (now)

function historyOf(shapes: Partial<Record<Exclude<keyof History, "time">, Shape>>): History {
  const list = (shape: Shape = () => 0) => Array.from({ length: SAMPLES }, (_, i) => shape(i / (SAMPLES - 1)));
  return {
    time: Array.from({ length: SAMPLES }, (_, i) => END - (SAMPLES - 1 - i) * 5000),
    ready: list(shapes.ready),
    delayed: list(shapes.delayed),
    processing: list(shapes.processing),
    failing: list(shapes.failing),
    in: list(shapes.in),
    out: list(shapes.out),
    failures: list(shapes.failures),
  };
}

const wave = (base: number, swing: number): Shape => (at) =>
  Math.max(0, Math.round((base + swing * Math.sin(at * 40) * Math.cos(at * 91)) * 10) / 10);
const since = (begin: number, before: Shape, after: Shape): Shape => (at) => at < begin ? before(at) : after(at);
const rise = (begin: number, to: number): Shape => (at) => at < begin ? 0 : Math.round(to * (at - begin) / (1 - begin));

/** Returns a healthy queue whose details are overridden by `said`. */
export function queueOf(name: string, said: Partial<QueueDetails> = {}): QueueDetails {
  const history = said.history ?? historyOf({
    ready: wave(3, 3),
    delayed: wave(12, 4),
    processing: wave(6, 2),
    in: wave(42, 4),
    out: wave(42, 5),
    failures: wave(0.3, 0.3),
  });
  return {
    name,
    engine: "memory",
    verdict: "healthy",
    reason: "New items start at once.",
    guide: "https://docs.example/operate.md#where-to-look",
    counts: { ready: 3, blocked: 0, delayed: 12, processing: 6, failing: 0 },
    rates: { in: 42.1, out: 42, failures: 0.3, givenUp: 0 },
    oldestReadyMs: 80,
    workers: { active: 6, concurrency: 10 },
    paused: false,
    pauseEndsInMs: null,
    trend: history.ready.map((ready, i) => ready! + history.delayed[i]!).filter((_, i) => i % 3 === 0),
    failingItems: [],
    runningItems: Array.from({ length: 6 }, (_, i) => ({ key: `${name}/run-${i}`, attempt: 1, for: 220 - i * 30 })),
    delayedItems: Array.from(
      { length: 12 },
      (_, i) => ({ key: `${name}/wait-${i}`, dueInMs: 800 * (i + 1), priority: 0 }),
    ),
    readyItems: Array.from({ length: 3 }, (_, i) => ({ key: `${name}/ready-${i}`, priority: 0 })),
    abandoned: 0,
    blockedRetries: null,
    groups: [{ name: "north", count: 2 }, { name: "south", count: 1 }],
    groupedItems: 3,
    blockedGroups: null,
    givenUp: null,
    errors: [],
    errorsUnknown: 0,
    matching: 12,
    matchingFailing: 0,
    givenUpFor: { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 },
    latency: {
      overMs: 870_000,
      waiting: { count: 37_412, p50: 41, p90: 96, p99: 310 },
      work: { count: 37_409, p50: 130, p90: 215, p99: 480 },
    },
    throttle: { rate: 50, burst: 10, tokens: 7.4, resumesInMs: 0 },
    throttleLimit: null,
    limiter: {
      path: "/limiters/default",
      type: "max-of",
      name: "default",
      options: {},
      bucket: null,
      inside: [
        {
          path: "/limiters/default/limiters/0",
          type: "exponential",
          name: null,
          options: { base: "5 ms", max: "16.7 min" },
          bucket: null,
          inside: [],
        },
        {
          path: "/limiters/default/limiters/1",
          type: "bucket",
          name: null,
          options: {},
          bucket: { rate: 10, burst: 100, tokens: 61.2, resumesInMs: 0 },
          inside: [],
        },
      ],
    },
    can: ["pause", "concurrency", "throttle", "retry", "takeBack", "cancel"],
    cannot: {},
    ...said,
    history,
  };
}

const BACKOFF = "/limiters/default/limiters/0";
const BUCKET = "/limiters/default/limiters/1";

/** Time of the fake server. */
const NOW = Date.UTC(2026, 10, 22, 3, 4, 5);

/** Returns a queue whose backend rejects every request. */
export function outage(): QueueDetails {
  const items = Array.from({ length: 50 }, (_, i) => ({
    key: `invoice/2026-11/${4820 - i}`,
    attempts: 11 - Math.floor(i / 9),
    error: `FetchError: connect ECONNREFUSED 10.3.0.${i % 3}:443 while posting to billing.internal`,
    ago: 4000 + 300 * i,
    dueInMs: 21_000 + 700 * i,
    decidedBy: i % 7 === 3 ? BUCKET : BACKOFF,
  }));
  return queueOf("invoices", {
    verdict: "stuck",
    reason: "Every attempt of the last 4 min failed: FetchError: connect ECONNREFUSED 10.3.0.1:443.",
    counts: { ready: 14, blocked: 0, delayed: 4820, processing: 10, failing: 4830 },
    rates: { in: 18.2, out: 18, failures: 18, givenUp: 0 },
    oldestReadyMs: 4200,
    workers: { active: 10, concurrency: 10 },
    paused: false,
    failingItems: items,
    delayedItems: items.map(({ key, dueInMs }) => ({ key, dueInMs, priority: 0 })),
    runningItems: Array.from(
      { length: 10 },
      (_, i) => ({
        ...{ key: `invoice/2026-11/${i}`, attempt: 7, for: 49_000 - 4100 * i },
        ...i < 2 && { abandonedFor: 19_000 - 4100 * i },
      }),
    ),
    matching: 4820,
    matchingFailing: 4830,
    errors: [
      {
        message: "FetchError: connect ECONNREFUSED * while posting to billing.internal",
        count: 31_207,
        items: 4811,
        first: NOW - 252_000,
        last: NOW - 400,
        example: "FetchError: connect ECONNREFUSED 10.3.0.1:443 while posting to billing.internal",
        keys: items.slice(0, 10).map(({ key }) => key),
      },
      {
        message: "TimeoutError: The handler did not end within * ms",
        count: 21,
        items: 19,
        first: NOW - 190_000,
        last: NOW - 12_000,
        example: "TimeoutError: The handler did not end within 30000 ms",
        keys: ["invoice/2026-11/7", "invoice/2026-11/12"],
      },
      {
        message: "Error: unknown customer *",
        count: 3,
        items: 0,
        first: NOW - 600_000,
        last: NOW - 560_000,
        example: "Error: unknown customer 4711",
        keys: [],
      },
    ],
    abandoned: 2,
    throttle: { rate: 20, burst: 5, tokens: -2.2, resumesInMs: 12_000 },
    history: historyOf({
      ready: since(0.7, wave(5, 4), wave(14, 6)),
      delayed: since(0.7, wave(20, 6), rise(0.7, 4820)),
      failing: since(0.7, wave(2, 2), rise(0.7, 4830)),
      in: wave(18, 3),
      out: wave(18, 3),
      failures: since(0.7, wave(0.3, 0.3), wave(18, 1)),
    }),
  });
}

/** Returns a queue to which one tenant adds more items than all others. */
export function hotTenant(): QueueDetails {
  return queueOf("thumbnails", {
    engine: "redis",
    verdict: "busy",
    reason: "9,400 of 10,212 ready items are of acme; the oldest has been ready for 3.2 min.",
    counts: { ready: 10_212, blocked: 812, delayed: 31, processing: 16, failing: 3 },
    rates: { in: 120, out: 64.3, failures: 0.2, givenUp: 0 },
    oldestReadyMs: 192_000,
    workers: null,
    paused: false,
    groups: [{ name: "acme", count: 921 }, { name: "globex", count: 41 }, { name: "initech", count: 26 }, {
      name: "umbrella",
      count: 12,
    }],
    readyItems: Array.from(
      { length: 50 },
      (_, i) => ({ key: `${i % 9 === 4 ? "globex" : "acme"}/img-${90_000 + i}.png`, priority: i % 2 }),
    ),
    throttle: null,
    can: ["pause", "retry", "takeBack", "cancel"],
    cannot: {
      concurrency: "The pools of other processes are theirs to set.",
      throttle: "The pools of other processes are theirs to set.",
    },
    history: historyOf({
      ready: rise(0.4, 10_212),
      delayed: wave(31, 8),
      failing: wave(3, 2),
      in: since(0.4, wave(60, 8), wave(120, 12)),
      out: wave(64, 6),
      failures: wave(0.2, 0.2),
    }),
  });
}

/** Returns a queue with one item that always fails. */
export function poison(): QueueDetails {
  return queueOf("webhooks", {
    verdict: "failing",
    reason:
      "1 item has failed 34 times: customers/7731: TypeError: Cannot read properties of undefined (reading 'address').",
    counts: { ready: 2, blocked: 0, delayed: 13, processing: 4, failing: 1 },
    failingItems: [{
      key: "customers/7731",
      attempts: 34,
      error: "TypeError: Cannot read properties of undefined (reading 'address')",
      ago: 61_000,
      dueInMs: 941_000,
      decidedBy: BACKOFF,
    }],
  });
}

/** Returns a paused queue. */
export function paused(): QueueDetails {
  return queueOf("emails", {
    verdict: "paused",
    reason: "Someone paused it. 118 items are ready.",
    counts: { ready: 118, blocked: 0, delayed: 0, processing: 0, failing: 0 },
    rates: { in: 0.4, out: 0, failures: 0, givenUp: 0 },
    oldestReadyMs: 301_000,
    workers: { active: 0, concurrency: 4 },
    paused: true,
    runningItems: [],
    delayedItems: [],
    matching: 0,
  });
}

/** Returns one queue for each problem, worst first, followed by two healthy queues. */
export function badNight(): QueueDetails[] {
  return [outage(), poison(), paused(), hotTenant(), queueOf("images"), queueOf("search-index")];
}

/** Returns healthy queues only. */
export function goodDay(): QueueDetails[] {
  return ["images", "invoices", "thumbnails", "webhooks"].map((name) => queueOf(name));
}
