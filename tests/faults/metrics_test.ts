/** Tests of metrics providers that throw. Queues, pools and other metrics are unaffected. */

import { assert, assertEquals } from "@std/assert";
import {
  adaptMetrics,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type MetricsProvider,
  type RateLimitingQueue,
} from "@workqueue/core";
import { metricFamilies } from "@workqueue/core/metrics";
import { Console, HandClock } from "../helpers.ts";
import { flushPromises, takeAll } from "../queue_helpers.ts";
import { METRIC_CALLS } from "./hooks.ts";
import { LAYERS, type Scenario, SCENARIOS } from "./scenarios.ts";

/** Calls that queues and pools make to a metrics provider and its metrics. */
const CALLS = [
  ...METRIC_CALLS,
  "priorityDepth.inc",
  "priorityDepth.dec",
  "active.inc",
  "active.dec",
  "concurrency.set",
  "failures.inc",
  "givenUp.inc",
  "gone",
] as const;
type Call = (typeof CALLS)[number];

/**
 * Maximum number of meters that a queue and its pool create for one metric. Given-up items have one meter per reason.
 */
const MAX_METERS = 5;

const FAULTS: Record<string, () => unknown> = {
  "throws": () => {
    throw new Error("broken");
  },
  "rejects": () => Promise.reject(new Error("broken")),
};

/** Creates a provider that measures everything. Only the call named by `broken` throws. */
function brokenMetrics(broken: Call | undefined, fail: () => unknown): InMemoryMetrics & MetricsProvider {
  const whole = new InMemoryMetrics();
  const [brokenMethod, brokenCall] = broken?.split(".") ?? [];
  const methods = [...new Set(CALLS.map((call) => call.split(".")[0]!))].filter((method) => method !== "gone");
  const made = methods.map((method) => [method, (...names: [string]) => {
    const metric = whole[method as "depth"](...names);
    return method === brokenMethod ? Object.assign(metric, { [brokenCall!]: fail }) : metric;
  }]);
  return Object.assign(new InMemoryMetrics(), Object.fromEntries(made), {
    gone: () => brokenMethod === "gone" ? fail() : undefined,
    toPrometheus: () => whole.toPrometheus(),
  });
}

/**
 * Runs a scenario. Returns the scenario's log, the measurements, the calls to the broken metric, and the printed lines.
 */
async function run(
  scenario: Scenario,
  make: (metrics: MetricsProvider, clock: HandClock) => RateLimitingQueue<string>,
  broken?: Call,
  fail: () => unknown = () => {},
) {
  const clock = new HandClock();
  let calls = 0;
  const metrics = brokenMetrics(broken, () => {
    calls++;
    return fail();
  });
  using printed = new Console();
  const log = await scenario(() => make(metrics, clock), clock);
  await flushPromises();
  return { log: [...log, clock.timers], measured: metrics.toPrometheus(), calls, lines: printed.lines };
}

/** Returns all measurements except those from one method. */
function without(method: string, measured: string): string[] {
  const family: { name: string } | undefined = metricFamilies[method as "depth"];
  return measured.split("\n").filter((line) => family === undefined || !line.includes(`${family.name}`));
}

for (const [layers, make] of Object.entries(LAYERS)) {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    Deno.test(`rule 11: an error of a metric affects nothing: ${name}, ${layers}`, async () => {
      const whole = await run(scenario, make);
      assertEquals(whole.lines, []);
      for (const call of CALLS) {
        const [method] = call.split(".") as [string];
        for (const [fault, fail] of Object.entries(FAULTS)) {
          const broken = await run(scenario, make, call, fail);
          assertEquals(broken.log, whole.log, `${call} ${fault}`);
          assertEquals(without(method, broken.measured), without(method, whole.measured), `${call} ${fault}`);
          assert(broken.lines.length <= broken.calls && broken.lines.length <= MAX_METERS, `${call} ${fault}`);
          assertEquals(broken.lines.length > 0, broken.calls > 0);
          for (const line of broken.lines) {
            assertEquals(line, `Cannot measure '${method}' of queue "q": "Error: broken"`);
          }
        }
      }
    });
  }
}

Deno.test("rule 11: each method of a metric is called in one of the scenarios", async () => {
  const reached = new Set<Call>();
  for (const scenario of Object.values(SCENARIOS)) {
    for (const call of CALLS) {
      if ((await run(scenario, LAYERS["one call"]!, call)).calls > 0) reached.add(call);
    }
  }
  assertEquals([...reached].sort(), [...CALLS].sort());
});

Deno.test("rule 11: an error without text, or a console that throws, affects nothing either", () => {
  const unreadable = {
    toString() {
      throw new Error("no text");
    },
  };
  for (const error of [unreadable, new Error("broken")]) {
    using _console = new Console(() => {
      throw new Error("the console is broken");
    });
    const metrics = brokenMetrics("adds.inc", () => {
      throw error;
    });
    const queue = createWorkQueue<string>({ name: "q", metrics });
    queue.add("a");
    assertEquals(takeAll(queue), ["a"]);
  }
});

Deno.test("rule 11: a provider that creates no metrics affects nothing", () => {
  using printed = new Console();
  const metrics = adaptMetrics(Object.fromEntries(CALLS.map((call) => [call.split(".")[0], () => undefined])) as never);
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 }), {
    name: "q",
    metrics,
    clock,
  });
  queue.add("a");
  queue.addAfter("b", 10);
  assertEquals([takeAll(queue), queue.delayed], [["a"], 1]);
  const methods = printed.lines.map((line) => line.split("'")[1]);
  assertEquals(methods.sort(), ["adds", "delayed", "depth", "queueLatency", "retries", "workDuration"]);
});

Deno.test("an error of a metric is logged in one line, with the name of the queue", () => {
  using printed = new Console();
  const metrics = brokenMetrics("adds.inc", () => {
    throw new Error("two\nlines");
  });
  createWorkQueue<string>({ name: "a\nb", metrics }).add("a");
  assertEquals(printed.lines, [`Cannot measure 'adds' of queue "a\\nb": "Error: two\\nlines"`]);
});
