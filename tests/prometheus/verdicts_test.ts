/**
 * Tests that the page's verdicts and the alert rules agree. A program with one queue per situation runs under fake
 * time. The test records the verdicts and the scraped metrics, and promtool evaluates the rules on the recorded series.
 */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type Handler,
  type QueueDiscipline,
  type RateLimitingQueue,
  runWorkers,
  TokenBucket,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import type { Verdict } from "@workqueue/dashboard";
import { prometheusMetrics } from "@workqueue/prometheus";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import { Asked } from "../dashboard/dashboards.ts";
import { flush } from "../queue_helpers.ts";
import { PROMTOOL, promtool } from "./promtool.ts";

/** Length of the recording, in minutes. */
const MINUTES = 45;
/** Interval between two scrapes, in seconds. */
const SCRAPE_EVERY = 15;
/** Minute at which most problems begin. */
const BEGIN = 5;
/** Minute at which these problems end. */
const END = 32;

/** Verdict on the page; `no data` if nothing serves the page. */
type Shown = Verdict | "no data";

interface Program {
  readonly queue: RateLimitingQueue<string>;
  readonly pool: WorkerPool<string>;
}

interface Situation {
  readonly verdict: Shown;
  /** First and last minute at which the page must show the verdict. */
  readonly shown: readonly [from: number, to: number];
  /** Alerts that must fire, each with the minute by which it fires. No other alert may fire at any time. */
  readonly alerts: Readonly<Record<string, number>>;
  readonly discipline?: QueueDiscipline<string>;
  /** Returns options of the pool. By default, it has four workers. */
  workers?(): WorkerOptions<string>;
  /** Called every second. */
  everySecond(program: Program, second: number): void;
  handle?(item: string, minute: number, signal: AbortSignal): ReturnType<Handler<string>>;
}

/** Name of the situation in which the program ends. */
const GONE = "program gone";

const situations: Readonly<Record<string, Situation>> = {
  "growing under a throttle": {
    verdict: "busy",
    shown: [1, MINUTES],
    alerts: { WorkqueueOldestTooOld: 11, WorkqueueBacklogGrows: 16 },
    workers: () => ({ concurrency: 8, throttle: new TokenBucket(5, 1) }),
    everySecond: ({ queue }, second) => addMany(queue, second, second === 0 ? 12_000 : 20),
  },
  "growing with all workers busy": {
    verdict: "busy",
    shown: [1, MINUTES],
    alerts: { WorkqueueBacklogGrows: 17, WorkqueueOldestTooOld: 20 },
    everySecond: ({ queue }, second) => addMany(queue, second, 6),
    handle: () => sleep(1 / 60),
  },
  "all attempts failing": {
    verdict: "failing",
    shown: [BEGIN + 1, END],
    alerts: { WorkqueueRetryStorm: BEGIN + 12, WorkqueueBacklogGrows: BEGIN + 17 },
    everySecond: ({ queue }, second) => addMany(queue, second, 1),
    handle(_, minute) {
      if (isDown(minute)) throw new Error("503");
    },
  },
  "one key failing": {
    verdict: "failing",
    shown: [1, MINUTES],
    alerts: {},
    everySecond: ({ queue }, second) => second === 0 ? queue.add("poison") : addMany(queue, second, 1),
    handle(item) {
      if (item === "poison") throw new Error("422");
    },
  },
  "backend gone (timeouts)": {
    verdict: "failing",
    shown: [BEGIN + 1, END - 1],
    alerts: { WorkqueueOldestTooOld: BEGIN + 13, WorkqueueRetryStorm: BEGIN + 14, WorkqueueBacklogGrows: BEGIN + 17 },
    workers: () => ({ timeout: "10s" }),
    everySecond: ({ queue }, second) => addMany(queue, second, 1),
    handle: (_, minute, signal) => isDown(minute) ? untilAborted(signal) : undefined,
  },
  "paused and forgotten": {
    verdict: "paused",
    shown: [BEGIN + 1, END],
    alerts: { WorkqueueOldestTooOld: BEGIN + 11, WorkqueueNothingTaken: BEGIN + 11, WorkqueueBacklogGrows: BEGIN + 17 },
    everySecond({ queue, pool }, second) {
      addMany(queue, second, 1);
      if (second === BEGIN * 60) pool.pause();
      if (second === END * 60) pool.resume();
    },
  },
  "5,000 scheduled repeats": {
    verdict: "healthy",
    shown: [0, MINUTES],
    alerts: {},
    everySecond({ queue }, second) {
      if (second === 0) { for (let i = 0; i < 5000; i++) queue.addAfter(`object ${i}`, i * 60); }
      if (second % 300 === 0) queue.add(`new object ${second}`);
    },
    handle: () => ({ requeueAfter: "5m" }),
  },
  "one handler hanging": {
    verdict: "busy",
    shown: [BEGIN + 16, END],
    alerts: { WorkqueueHandlerStuck: BEGIN + 17 },
    everySecond({ queue }, second) {
      addMany(queue, second, 1);
      if (second === BEGIN * 60) queue.add("slow");
    },
    handle: (item, minute) => item === "slow" ? sleep(END - minute) : undefined,
  },
  "one group at its limit": {
    verdict: "busy",
    shown: [1, MINUTES],
    alerts: { WorkqueueOldestTooOld: 11, WorkqueueNothingTaken: 11 },
    discipline: createFairDiscipline({ groupOf: () => "all", maxPerGroup: 1 }),
    everySecond: ({ queue }, second) => addMany(queue, second, second === 0 ? 9 : 0),
    handle: () => sleep(12),
  },
  "one item behind urgent ones": {
    verdict: "busy",
    shown: [6, MINUTES],
    alerts: { WorkqueueOldestTooOld: 11 },
    discipline: createPriorityDiscipline({ maxHeadStart: Infinity }),
    everySecond({ queue }, second) {
      for (let i = 0; i < 4; i++) queue.add(`${second}/${i}`, { priority: 10 });
      if (second === 0) queue.add("late");
    },
    handle: () => sleep(1 / 60),
  },
  "one key added again and again": {
    verdict: "healthy",
    shown: [0, MINUTES],
    alerts: {},
    everySecond: ({ queue }) => queue.add("hot"),
    handle: () => sleep(12),
  },
  [GONE]: {
    verdict: "no data",
    shown: [BEGIN, MINUTES],
    alerts: { WorkqueueProgramDown: BEGIN + 5, WorkqueueGone: BEGIN + 10, WorkqueueMetricsMissing: BEGIN + 15 },
    everySecond: ({ queue }, second) => addMany(queue, second, 1),
  },
};

function addMany(queue: RateLimitingQueue<string>, second: number, count: number): void {
  for (let i = 0; i < count; i++) queue.add(`${second}/${i}`);
}

function sleep(minutes: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, minutes * 60_000));
}

function isDown(minute: number): boolean {
  return minute >= BEGIN && minute < END;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** Value of a metric in prom-client's JSON. */
interface Value {
  readonly metricName?: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Recorded values of one queue, and of its program's target, one per scrape. */
interface Recorded {
  readonly verdicts: Shown[];
  /** Values by series; `_` if the series had no value. */
  readonly series: Record<string, (number | "_")[]>;
}

/** Runs all situations at once. */
async function record(): Promise<ReadonlyMap<string, Recorded>> {
  const recorded = new Map(
    Object.keys(situations).map((name): [string, Recorded] => [
      name,
      { verdicts: [], series: {} },
    ]),
  );
  using time = new FakeTime();
  const begunAt = Date.now();
  const register = new Registry();
  const programs = Object.fromEntries(
    Object.entries(situations).map(([name, { handle, discipline, workers }]): [string, Program] => {
      const limiter = createExponentialLimiter<string>({ baseDelay: "1s", maxDelay: "1m" });
      const queue = createRateLimitingQueue<string>(limiter, {
        name,
        discipline,
        metrics: prometheusMetrics(register),
      });
      const handler: Handler<string> = (item, { signal }) => handle?.(item, (Date.now() - begunAt) / 60_000, signal);
      return [name, { queue, pool: runWorkers(queue, handler, { concurrency: 4, onError() {}, ...workers?.() }) }];
    }),
  );
  using asked = new Asked({ queues: programs });
  await flush();

  for (let second = 0; second <= MINUTES * 60; second++) {
    if (second % SCRAPE_EVERY === 0) await scrape(second / SCRAPE_EVERY);
    for (const [name, { everySecond }] of Object.entries(situations)) everySecond(programs[name]!, second);
    time.tick(1000);
    await flush();
  }

  for (const { queue, pool } of Object.values(programs)) {
    queue.shutDown();
    void pool.stop();
  }
  time.tick(15 * 60_000);
  await flush();
  return recorded;

  async function scrape(place: number): Promise<void> {
    const isOver = place * SCRAPE_EVERY >= BEGIN * 60;
    const put = (name: string, key: string, value: number) => {
      const { series } = recorded.get(name)!;
      (series[key] ??= Array(MINUTES * 60 / SCRAPE_EVERY + 1).fill("_"))[place] = value;
    };
    const target = `job="shop", instance="127.0.0.1:9464"`;
    for (const name of Object.keys(situations)) put(name, `up{${target}}`, Number(name !== GONE || !isOver));
    for (const { name: family, values } of await register.getMetricsAsJSON()) {
      for (const { metricName = family, value, labels } of values as Value[]) {
        if (labels["le"] !== undefined || (labels["name"] === GONE && isOver)) continue;
        const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
        put(labels["name"]!, `${metricName}{${[target, ...pairs].join(", ")}}`, value);
      }
    }
    for (const { name, verdict } of (await asked.state()).queues) {
      const shown = name === GONE && isOver ? "no data" : verdict; // the program also served the page
      recorded.get(name)!.verdicts.push(shown);
      put(name, `page_healthy{name="${name}"}`, Number(shown === "healthy"));
    }
  }
}

let recording: ReturnType<typeof record> | undefined;

/** Returns the recorded values of a situation. All situations are recorded once. */
async function recordedOf(name: string): Promise<Recorded> {
  return (await (recording ??= record())).get(name)!;
}

for (const [name, { verdict, shown: [from, to] }] of Object.entries(situations)) {
  Deno.test(`verdicts and alerts: ${name}: ${verdict} from minute ${from} to minute ${to}`, async () => {
    const { verdicts } = await recordedOf(name);
    const everyMinute = verdicts.filter((_, place) => place * SCRAPE_EVERY % 60 === 0);
    const missing = everyMinute.flatMap((shown, minute) =>
      minute < from || minute > to || shown === verdict ? [] : [`${minute}: ${shown}`]
    );
    assertEquals(missing, []);
  });
}

const RULES = fileURLToPath(new URL("../../docs/operate/alerts.yml", import.meta.url));

for (const [name, { alerts }] of Object.entries(situations)) {
  const list = Object.entries(alerts).map(([alert, minute]) => `${alert} by minute ${minute}`).join(", ") || "no alert";
  Deno.test({
    name: `verdicts and alerts: ${name}: ${list}, and never healthy while an alert fires`,
    ignore: PROMTOOL === undefined,
    async fn() {
      const { series } = await recordedOf(name);
      const firing = (labels: string) => `ALERTS{alertstate="firing", ${labels}}`;
      const never = (expr: string) => ({ expr, eval_time: `${MINUTES}m`, exp_samples: [] });
      const others = `alertname!~"${Object.keys(alerts).join("|")}"`;
      const neverFires = [
        never(`count by (alertname) (count_over_time(${firing(others)}[${MINUTES}m]))`),
        never(`count_over_time((${firing("")} and on (name) page_healthy == 1)[${MINUTES}m:${SCRAPE_EVERY}s])`),
      ];
      const inTime = Object.entries(alerts).map(([alert, minute]) => ({
        expr: `count by (alertname) (${firing(`alertname="${alert}"`)})`,
        eval_time: `${minute}m`,
        exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }],
      }));
      await promtool("test", {
        rule_files: [RULES],
        evaluation_interval: "1m",
        tests: [
          { ...input(series), promql_expr_test: [...inTime, ...neverFires] },
          { ...input(scrapedEachMinute(series)), promql_expr_test: neverFires },
        ],
      });
    },
  });
}

function input(series: Recorded["series"]) {
  return {
    interval: `${SCRAPE_EVERY}s`,
    input_series: Object.entries(series).map(([series, values]) => ({ series, values: values.join(" ") })),
  };
}

/** Returns the series that Prometheus has if it scrapes once a minute, as it does by default. */
function scrapedEachMinute(series: Recorded["series"]): Recorded["series"] {
  return Object.fromEntries(
    Object.entries(series).map(([key, values]) => [
      key,
      values.map((value, place) => key.startsWith("page_") || place * SCRAPE_EVERY % 60 === 15 ? value : "_"),
    ]),
  );
}
