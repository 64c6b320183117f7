/** Contract suite of `MetricsProvider`: the provider's instruments, and the measurements of a queue. */

import { assertEquals } from "@std/assert";
import {
  type Counter,
  createRateLimitingQueue,
  createWorkQueue,
  type Gauge,
  type Histogram,
  type MetricsProvider,
  type SettableGauge,
} from "@workqueue/core";
import { type MeteredMethod, metricFamilies } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { take, takeAll } from "../queue_helpers.ts";

/** Instrument of any kind. Only the methods of the instrument's own kind may be called. */
type Instrument = Gauge & Counter & Histogram & SettableGauge;

/** Uses two instruments of the same series. Returns the value that the series has afterwards. */
type Use = (first: Instrument, second: Instrument) => number;

const useGauges: Use = (first, second) => {
  for (const gauge of [first, second, first]) gauge.inc();
  second.dec();
  return 2;
};
const useCounters: Use = (first, second) => {
  for (const counter of [first, second, first]) counter.inc();
  return 3;
};
const useSettable: Use = (first, second) => {
  first.set(7);
  second.set(3);
  return 3;
};
const useHistograms: Use = (first, second) => {
  first.observe(0.25);
  second.observe(1e-9);
  return 0.25 + 1e-9;
};

/** All methods that create instruments, each with a function that uses the instruments that the method creates. */
const USES: Readonly<Record<MeteredMethod, Use>> = {
  depth: useGauges,
  adds: useCounters,
  queueLatency: useHistograms,
  workDuration: useHistograms,
  unfinishedWork: useSettable,
  longestRunningProcessor: useSettable,
  retries: useCounters,
  priorityDepth: useGauges,
  delayed: useSettable,
  blocked: useSettable,
  oldestReady: useSettable,
  active: useGauges,
  concurrency: useSettable,
  failures: useCounters,
  givenUp: useCounters,
};

/** Values of the second label, for the methods whose metric has a second label. */
const LABELS: Readonly<Partial<Record<MeteredMethod, string>>> = { priorityDepth: "high", givenUp: "terminal" };

/** Returns the value of a series (the sum of a histogram), or `undefined` if there is no such series. */
type Read<P> = (provider: P, metric: string, queue: string) => number | undefined | Promise<number | undefined>;

/**
 * Registers the suite for one implementation.
 *
 * @param name Name of the implementation.
 * @param make Creates a provider.
 * @param read Reads a series of the provider. Omit it if the provider keeps no values.
 */
export function metricsSuite<P extends MetricsProvider>(name: string, make: () => P, read?: Read<P>): void {
  if (read !== undefined) {
    Deno.test(`metrics provider, ${name}: instruments of one method and one queue name share a series`, async () => {
      const provider = make();
      for (const [method, use] of Object.entries(USES) as [MeteredMethod, Use][]) {
        const create = provider[method]?.bind(provider) as ((queue: string, label?: string) => Instrument) | undefined;
        if (create === undefined) continue; // it is optional
        const { name: metric } = metricFamilies[method];
        for (const queue of ["q", "another", 'odd "name"\n']) {
          const value = use(create(queue, LABELS[method]), create(queue, LABELS[method]));
          assertEquals(await read(provider, metric, queue), value, `${method} of ${queue}`);
        }
        assertEquals(await read(provider, metric, "unknown"), undefined, method);
      }
    });
  }

  Deno.test(`metrics provider, ${name}: a measured queue does the same as others`, async () => {
    const clock = new HandClock();
    const limiter = { when: () => 10, forget() {}, numRequeues: () => 0 };
    const queue = createRateLimitingQueue<string>(limiter, { name: "q", clock, metrics: make() });
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    queue.addRateLimited("b");
    await clock.advance(600);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["b", "a"]);
    queue.shutDown();
    assertEquals(clock.timers, 0);
  });

  Deno.test(`metrics provider, ${name}: one provider serves several queues`, () => {
    const metrics = make();
    const queues = ["one", "two"].map((queue) => createWorkQueue<string>({ name: queue, metrics }));
    for (const queue of queues) queue.add("a");
    for (const queue of queues) assertEquals(takeAll(queue), ["a"]);
    for (const queue of queues) queue.shutDown();
  });
}
