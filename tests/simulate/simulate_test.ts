import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConfigError, defineThrottle, throttles } from "@workqueue/core";
import { compare, type LoadDocument, parseCondition, search, simulate, svgOf, textOf } from "@workqueue/simulate";
import { loadOf, readLoadOptions } from "../../packages/simulate/load/load.ts";
import { Simulation } from "../../packages/simulate/run/simulation.ts";
import { VARIED_CONFIG, VARIED_LOAD } from "./varied_load.ts";

/** Returns a config with one queue. */
function configOf(queue: object, limiters: object = {}): object {
  return { limiters, queues: { jobs: queue } };
}

const constant = (time: number) => ({ type: "constant", time });
const EACH_SECOND = [{ type: "constant", rate: 1 }];

Deno.test("simulate: items are processed one after the other, and each waits until the one before has ended", async () => {
  const load = { duration: "10s", arrivals: EACH_SECOND, work: constant(1500) };
  const report = await simulate(configOf({}), load);
  assertEquals([report.arrivals, report.attempts, report.succeeded, report.unfinished], [10, 10, 10, 0]);
  assertEquals(report.duration, 15_000); // the last item ends 15 s after the start
  assertEquals([report.waits.count, report.waits.max, report.waits.mean], [10, 4500, 2250]);
  assertEquals([report.totals.max, report.utilization], [6000, 1]);
  assertEquals(report.worst.wait.value, 4500);
});

Deno.test("simulate: the duration in the options overrides the duration of the load", async () => {
  const load = { arrivals: EACH_SECOND, work: constant(100) };
  for (const duration of [5000, "5s"]) {
    for (const given of [load, { ...load, duration: "10s" }]) {
      assertEquals((await simulate(configOf({}), given, { duration })).arrivals, 5);
    }
  }
  await assertRejects(() => simulate(configOf({}), load), ConfigError, "missing required option 'duration'");
  await assertRejects(() => simulate(configOf({}), load, { duration: "soon" }), ConfigError, "(at /duration)");
});

Deno.test("simulate: a limiter of the config delays retries, and maxRetries gives items up", async () => {
  const limiter = { type: "exponential", baseDelay: "1s", maxDelay: "1h" };
  const load = {
    duration: "2s",
    arrivals: [{ type: "bursts", size: 1 }],
    work: constant(0),
    failures: [{ type: "poison", share: 1 }],
  };
  const longer = { ...load, duration: "1m" };
  const report = await simulate(configOf({ limiter, maxRetries: 3 }), longer);
  assertEquals([report.attempts, report.retries, report.givenUp, report.succeeded], [4, 3, 1, 0]);
  assertEquals([report.duration, report.failures], [7000, { poison: 4 }]); // after 1, 2 and 4 s
  const stopped = await simulate(configOf({ limiter }), load);
  assertEquals([stopped.attempts, stopped.unfinished, stopped.duration], [3, 1, 4000]); // at twice the duration
});

Deno.test("simulate: the attempt after a failed one also serves adds that came in between", async () => {
  const { succeeded, attempts, unfinished } = await simulate(configOf({ addWhileDelayed: "replace" }), {
    duration: "1m",
    arrivals: [{ type: "bursts", size: 1 }, { type: "bursts", size: 1, from: "1s" }],
    keys: { type: "repeated", count: 1 },
    work: constant(1500),
    failures: [{ type: "outage", from: 0, for: "500ms" }], // the first attempt fails at 1.5 s
  });
  assertEquals({ succeeded, attempts, unfinished }, { succeeded: 1, attempts: 2, unfinished: 0 });
});

Deno.test("simulate: an item that restarts after an event has its own random numbers", async () => {
  const { arrivals, attempts } = await simulate(configOf({ concurrency: 8, addWhileDelayed: "replace" }), {
    duration: "10m",
    arrivals: [{ type: "poisson", rate: 4 }],
    work: constant(200),
    eventsWhileFailing: "2s",
    failures: [{ type: "random", probability: 0.5 }],
  });
  assert(attempts < 2.4 * arrivals, `${attempts} attempts, expected twice as many as arrivals`);
});

Deno.test("simulate: after an outage ends, its backlog takes some time to clear", async () => {
  const limiter = { type: "exponential", baseDelay: "10s", maxDelay: "10s" };
  const report = await simulate(configOf({ limiter, concurrency: 10 }), {
    duration: "100s",
    arrivals: EACH_SECOND,
    work: constant(100),
    failures: [{ type: "outage", from: "20s", for: "15s" }],
  });
  const [outage] = report.outages;
  // Items that arrive from 20 s on fail at 100 ms past each second, and are retried each ten seconds.
  assertEquals([outage!.from, outage!.to, outage!.backlog], [20_000, 35_000, 15]);
  assertEquals([outage!.goneAt, report.attempts], [44_300, 120]);
  assert(report.facts[0]!.startsWith("The backlog of the outage at 20s is gone at 44s, 9.3s after it ended"));
});

Deno.test("simulate: the same seed gives the same report, and another seed another one", async () => {
  const [config, load] = [VARIED_CONFIG, VARIED_LOAD];
  const report = await simulate(config, load, { seed: 7 });
  assertEquals(await simulate(config, load, { seed: 7 }), report);
  assert(JSON.stringify(await simulate(config, load, { seed: 8 })) !== JSON.stringify(report));
  let hash = 0;
  for (const character of JSON.stringify(report)) hash = Math.imul(hash, 31) + character.charCodeAt(0) | 0;
  assertEquals(hash, 1_671_210_104, "the same on every runtime");
  assertEquals(Object.keys(report.byGroup), ["a", "b"]);
  assertEquals(Object.keys(report.byPriority), ["0", "10"]);
  assertEquals(report.byGroup["a"]!.waits.count + report.byGroup["b"]!.waits.count, report.attempts);
  assert(report.folded > 0 && report.events > 0 && report.failures["timeout"]! > 0);
});

Deno.test("simulate: a backend beyond its capacity becomes slower, and refuses attempts beyond its limit", async () => {
  const load = (backend: Record<string, number>) => ({
    duration: "10s",
    arrivals: [{ type: "bursts", size: 10 }],
    work: constant(1000),
    backend,
  });
  const config = configOf({ concurrency: 10, maxRetries: 0 });
  assertEquals((await simulate(config, load({ capacity: 10 }))).totals.max, 1000);
  assertEquals((await simulate(config, load({ capacity: 5 }))).totals.max, 2000);
  const refusing = await simulate(config, load({ capacity: 5, limit: 7 }));
  assertEquals([refusing.succeeded, refusing.givenUp, refusing.failures], [7, 3, { refused: 3 }]);
  assertEquals(refusing.totals.max, 1400);
});

Deno.test("simulate: if a part of a plugin throws, the simulation ends with its error", async () => {
  const broken = defineThrottle({
    type: "broken",
    description: "Throws.",
    options: {},
    create: () => ({
      acquire() {
        throw new Error("boom");
      },
    }),
  });
  const load = { duration: "1m", arrivals: [{ type: "constant", rate: 1 }], work: constant(100) };
  const options = { throttles: throttles.extend().register(broken) };
  await assertRejects(
    () => simulate(configOf({ throttle: { type: "broken" } }), load, options),
    Error,
    "Cannot simulate: the workers of queue 'jobs' stopped: boom",
  );
});

Deno.test("simulate: a backend accepts as many attempts per minute as its quota allows", async () => {
  const load = {
    duration: "2m",
    arrivals: [{ type: "constant", rate: 1 }],
    work: constant(100),
    backend: { capacity: 10, quota: 40 },
  };
  const { succeeded, failures } = await simulate(configOf({ maxRetries: 0 }), load);
  assertEquals([succeeded, failures], [80, { refused: 40 }]);
});

Deno.test("simulate: a backend continues to work for callers that have given up, unless it stops", async () => {
  const load = (stops: boolean) => ({
    duration: "1m",
    arrivals: [{ type: "bursts", size: 4, for: "1s" }],
    work: constant(1000),
    backend: { capacity: 1, stops },
  });
  const limiter = { type: "exponential", baseDelay: "1s", maxDelay: "1s" };
  const config = configOf({ concurrency: 4, timeout: "3s", limiter });
  const [wasteful, frugal] = [await simulate(config, load(false)), await simulate(config, load(true))];
  assert(wasteful.attempts > frugal.attempts || wasteful.unfinished > 0, `${wasteful.attempts}, ${frugal.attempts}`);
});

Deno.test("simulate: reloads, pauses, deploys and other concurrencies happen at their times", async () => {
  const load = (changes: object[]): LoadDocument => ({
    duration: "20s",
    arrivals: EACH_SECOND,
    work: constant(2000),
    changes: changes as never,
  });
  const one = configOf({});
  const two = configOf({ concurrency: 2 });
  const plain = await simulate(one, load([]));
  assertEquals([plain.succeeded, plain.duration], [20, 40_000]);
  const more = await simulate(one, load([{ type: "concurrency", at: 0, concurrency: 2 }]));
  assertEquals([more.duration, more.waits.max], [21_000, 0]);
  const reloaded = await simulate(one, load([{ type: "reload", at: 0, config: "two.yaml" }]), {
    configs: { "two.yaml": two },
  });
  assertEquals(reloaded.duration, 21_000);
  const paused = await simulate(two, load([{ type: "pause", at: "5s", for: "10s" }]));
  assertEquals(paused.waits.max, 10_000);
  const deployed = await simulate(two, load([{ type: "deploy", at: "5500ms", for: "3s" }]));
  assertEquals([deployed.succeeded, deployed.lost, deployed.unfinished], [20, 0, 0]);
  const forgetful = await simulate(two, load([{ type: "deploy", at: "5500ms", for: "3s", relist: false }]));
  assertEquals([forgetful.succeeded + forgetful.lost, forgetful.lost > 0], [20, true]);
});

Deno.test("simulate: every problem of a load, a config or an option is reported", async () => {
  const load = { duration: "10s", arrivals: EACH_SECOND, work: constant(1) };
  const error = await assertRejects(
    () =>
      simulate(
        configOf({}),
        { duration: "0s", arivals: [], work: { type: "lognorml" }, priorities: { high: 1 } } as never,
      ),
    ConfigError,
  );
  assertEquals(error.issues.map(({ path }) => path).sort(), [
    "/arivals",
    "/arrivals",
    "/duration",
    "/priorities/high",
    "/work/type",
  ]);
  await assertRejects(() => simulate(configOf({ concurency: 3 }), load), ConfigError, 'did you mean "concurrency"?');
  await assertRejects(() => simulate({}, load), RangeError, "the config has no queue");
  await assertRejects(() => simulate({ queues: { a: {}, b: {} } }, load), RangeError, "choose a queue: 'a', 'b'");
  await assertRejects(() => simulate(configOf({}), load, { queue: "job" }), RangeError, "no queue 'job'");
  await assertRejects(() => simulate(configOf({}), load, { seed: 0.5 }), RangeError, "seed");
  await assertRejects(() => simulate(configOf({}), load, { sed: 5 } as never), TypeError, 'did you mean "seed"?');
  await assertRejects(
    () => simulate(configOf({}), { ...load, changes: [{ type: "reload", at: 0, config: "x.yaml" }] }),
    ConfigError,
    "the config of this reload was not given",
  );
  const changes = [{ type: "pause", at: 0, for: 1 }, { type: "reload", at: 0, config: "other" }];
  const other = { queues: { other: {} } };
  const noQueue = await assertRejects(
    () => simulate(configOf({}), { ...load, changes }, { configs: { other } }),
    ConfigError,
  );
  const message = "the config of this reload has no queue 'jobs'";
  assertEquals(noQueue.issues, [{ path: "/changes/1/config", message }]);
  for (const name of ["soon", "100", "unlimited"]) {
    const samples = { ...load, work: { type: "samples", times: { "20ms": 1, [name]: 1 } } };
    const { issues } = await assertRejects(() => simulate(configOf({}), samples), ConfigError);
    const message = `'times' must have durations such as "20ms" as names, not "${name}", got an object`;
    assertEquals(issues, [{ path: "/work/times", message }]);
  }
});

Deno.test("compare: the better config is named with the reason, or none if there is no difference", async () => {
  const load = { duration: "3m", arrivals: [{ type: "poisson", rate: 15 }], work: { type: "exponential", mean: 120 } };
  const [few, many] = [configOf({ concurrency: 2 }), configOf({ concurrency: 4 })];
  const { better, verdict, figures } = await compare({ few, many }, load);
  assertEquals(better, 1);
  assert(/^many is better: its p99 total is .*ms, compared to .*s with few\.$/.test(verdict), verdict);
  const wait = figures.find(({ name }) => name === "p99 wait")!;
  assert(wait.differences[1]!.mean < 0 && wait.differences[1]!.margin < -wait.differences[1]!.mean);
  assertEquals((await compare({ one: few, other: few }, { ...load, duration: "10s" })).better, undefined);
  await assertRejects(() => compare({ one: few }, load), RangeError, "at least two configs");
});

Deno.test("search: finds the smallest number for which no condition is true", async () => {
  const load = { duration: "2m", arrivals: [{ type: "poisson", rate: 15 }], work: { type: "exponential", mean: 100 } };
  const bound = parseCondition("p99 wait > 500ms");
  const found = await search(configOf({}), load, [bound], "queues.jobs.concurrency=1..64");
  assertEquals([found.value, found.text], [
    3,
    "queues.jobs.concurrency must be at least 3. With 2, p99 wait > 500ms.",
  ]);
  const none = await search(configOf({}), load, [bound], "queues.jobs.concurrency=1..2");
  assertEquals(none.value, undefined);
  await assertRejects(
    () => search(configOf({}), load, [bound], "queues.jobs.concurrency"),
    TypeError,
    "a path and a range",
  );
  await assertRejects(
    () => search(configOf({}), load, [bound], "queues.job.concurrency=1..2"),
    TypeError,
    "is missing",
  );
});

Deno.test("a report as text fits the terminal, and names the simulated config and load", async () => {
  const load = {
    duration: "30m",
    arrivals: [{ type: "poisson", rate: 10 }],
    groups: [{ name: "a" }, { name: "b" }],
    work: constant(100),
    failures: [{ type: "outage", from: "10m", for: "5m" }],
  };
  const text = textOf(await simulate(configOf({ concurrency: 4 }), load), 100);
  assert(text.split("\n").every((line) => line.startsWith("• ") || line.length <= 100), text);
  assert(text.split("\n").every((line) => line === line.trimEnd()), text);
  for (
    const word of ["Queue jobs", "arrivals", "backlog", "wait p50", "• The backlog of the outage at 10m is gone at"]
  ) {
    assert(text.includes(word), `${word} in\n${text}`);
  }
});

Deno.test("simulate: events of the load after the end of the simulation are reported as such", async () => {
  const outage = (from: string) => ({ type: "outage", from, for: "1h" });
  const load = { duration: "10s", arrivals: EACH_SECOND, work: constant(100) };
  const changes = [{ type: "deploy", at: "1m" }, { type: "concurrency", at: "5s", concurrency: 2 }];
  const none = await simulate(configOf({}), { ...load, failures: [outage("1m")], changes });
  assertEquals(none.facts, [
    "The outage at 1m had not begun when the simulation ended, at 9.1s.",
    "The deploy at 1m was not carried out: the simulation ended at 9.1s.",
  ]);
  assertThrows(() => parseCondition("recovery > 1m").holds(none), TypeError, 'the load has no outages for "recovery"');
  const limiter = { type: "exponential", baseDelay: "1s", maxDelay: "1s" };
  const half = await simulate(configOf({ limiter }), { ...load, failures: [outage("5s")] });
  assertEquals(half.facts[0], "The outage at 5s had not ended when the simulation ended, at 20s.");
  assertEquals(parseCondition("recovery > 1m").holds(half), true);
});

Deno.test("simulate: the largest number of requests per second is counted in whole seconds", async () => {
  const arrivals = [{ type: "bursts", size: 30 }, { type: "bursts", size: 50, from: "900ms" }];
  const load = { duration: "2s", arrivals, work: constant(0) }; // in steps of 17 ms
  const { requests } = await simulate(configOf({ concurrency: 100 }), load);
  assertEquals(Math.round(requests.max.value), 80);
});

Deno.test("simulate: arrivals whose rate falls to 0 end with the load", async () => {
  const ramp = { type: "ramp", start: 10, end: 0, over: "1m" };
  const { arrivals } = await simulate(configOf({}), { duration: "10m", arrivals: [ramp], work: constant(1) });
  assert(arrivals > 250 && arrivals < 350, `${arrivals}`); // 300 on average
});

Deno.test("simulate: an arrival is folded if it causes no attempt", async () => {
  const arrivals = { type: "bursts", size: 2, every: "1s" };
  const load = { duration: "3s", keys: { type: "repeated", count: 1 }, work: constant(1500), arrivals: [arrivals] };
  // At 0, one of two causes an attempt, until 1.5 s. At 1 s, one of two causes another, from then on, and so at 2 s.
  const { attempts, folded, succeeded } = await simulate(configOf({}), load);
  assertEquals([attempts, folded, succeeded], [3, 3, 3]);
});

Deno.test("simulate: a failure of a group that is not in the load is refused", async () => {
  const load = {
    duration: "1s",
    arrivals: [{ type: "constant", rate: 1, group: "ca" }],
    groups: [{ name: "eu" }, { name: "us" }],
    work: constant(1),
  };
  const random = (group: string) => ({ type: "random", probability: 1, group });
  const wrong = { ...load, failures: [random("us"), random("uk"), random("ca")] };
  const error = await assertRejects(() => simulate(configOf({}), wrong), ConfigError);
  const message = 'the load has no group "uk"; did you mean "us"?';
  assertEquals(error.issues, [{ path: "/failures/1/group", message }]);
  const none = { ...load, arrivals: EACH_SECOND, groups: [], failures: [random("us")] };
  await assertRejects(() => simulate(configOf({}), none), ConfigError, 'the load has no group "us"');
});

Deno.test("search: finds the largest number for which no condition is true, if larger ones are worse", async () => {
  const load = {
    duration: "10m",
    arrivals: [{ type: "constant", rate: 1 }],
    work: constant(100),
    failures: [{ type: "outage", from: "2m", for: "3m" }],
  };
  const config = (maxDelay: number) =>
    configOf({ concurrency: 9, limiter: { type: "exponential", baseDelay: 1000, maxDelay } });
  const recovery = parseCondition("recovery > 20s");
  const range = "queues.jobs.limiter.maxDelay=1000..900000";
  const { value, text } = await search(config(1000), load, [recovery], range);
  for (const [maxDelay, holds] of [[value!, false], [value! + 1, true]] as const) {
    assertEquals(recovery.holds(await simulate(config(maxDelay), load)), holds, text);
  }
  assertEquals(text, `queues.jobs.limiter.maxDelay must be at most ${value}. With ${value! + 1}, recovery > 20s.`);
  const never = await search(config(1000), load, [parseCondition("attempts > 1")], range);
  assertEquals([never.value, never.text], [
    undefined,
    "With queues.jobs.limiter.maxDelay = 1000 and with 900000, attempts > 1.",
  ]);
});

Deno.test("simulate: a report without items says so, and has no times", async () => {
  const load = { duration: "10s", arrivals: EACH_SECOND, work: constant(100) };
  const warm = await simulate(configOf({}), { ...load, warmUp: "1m" });
  assertEquals(warm.facts, ["Every item arrived in the warm-up, so there are no waits and totals."]);
  assert(/all +– +– +– +– +– +– +–$/m.test(textOf(warm)));
  const empty = await simulate(configOf({}), { ...load, arrivals: [{ type: "constant", rate: 0 }] });
  assertEquals(empty.facts, ["No item arrived."]);
  for (const report of [warm, empty]) {
    assertThrows(
      () => parseCondition("p99 wait > 1s").holds(report),
      TypeError,
      'the load has no items for "p99 wait"',
    );
  }
  const comparison = await compare({ one: configOf({}), other: configOf({}) }, load);
  assert(!comparison.figures.some(({ name }) => name === "recovery"));
  await assertRejects(
    () => compare({ one: configOf({}), other: configOf({}) }, load, { by: "recovery" }),
    TypeError,
    "the load has no outages",
  );
});

Deno.test("rule 20: attempts that never end cause an error that names the handler", async () => {
  const load = loadOf(
    readLoadOptions({ duration: "1m", arrivals: [{ type: "bursts", size: 1 }], work: constant(1000) }),
  );
  const terms = { document: configOf({}), configs: {}, queue: "jobs", registries: {}, load, seed: 1 };
  const simulation = new Simulation(terms);
  const setTimeout = simulation.clock.setTimeout.bind(simulation.clock);
  const lose = () => {};
  simulation.clock.setTimeout = (callback, ms) => setTimeout(ms === 1000 ? lose : callback, ms); // loses the work's end
  const message = "the handler of queue 'jobs' is still working on 'item-0', but no timer is left";
  await assertRejects(() => simulation.run(), Error, message);
});

Deno.test("simulate: retries without any delay cause an error that names the item", async () => {
  const limiter = { type: "exponential", baseDelay: 0, maxDelay: 0 };
  const load = {
    duration: "1m",
    arrivals: [{ type: "bursts", size: 1, from: "3s" }],
    work: constant(0),
    failures: [{ type: "poison", share: 1 }],
  };
  await assertRejects(
    () => simulate(configOf({ limiter }), load),
    Error,
    "Cannot simulate: 'item-0' was tried 10001 times at 3000 ms, because neither attempts nor delays take time",
  );
});

Deno.test("svg: a report is drawn with colors for light and dark, and names are escaped", async () => {
  const load = { duration: "10s", arrivals: EACH_SECOND, work: constant(1500) };
  const svg = svgOf(await simulate({ queues: { "<a & b>": {} } }, load));
  assert(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"') && svg.endsWith("</svg>\n"), svg);
  assert(svg.includes("prefers-color-scheme: dark"));
  assert(!svg.includes("<a & b>"));
});

Deno.test("simulate: a tenant that answers 429 waits as a group, and its attempts are counted once", async () => {
  const config = configOf({
    discipline: { type: "fair", separator: "/" },
    concurrency: 20,
    maxRetries: 3,
    limiter: { type: "exponential", baseDelay: "10ms", maxDelay: "1s" },
  });
  const loadWith = (scope: string) => ({
    duration: "10s",
    arrivals: [{ type: "constant", rate: 200 }],
    groups: [{ name: "hot" }, { name: "cold" }],
    work: constant(10),
    failures: [{ type: "outage", group: "hot", from: "1s", for: "2s", retryAfter: "500ms", scope }],
  });
  const item = await simulate(config, loadWith("item"));
  assert(item.failures["outage"]! > 100, `${item.failures["outage"]}`);
  const group = await simulate(config, loadWith("group"));
  assert(group.failures["outage"]! <= 20 + 4, `${group.failures["outage"]}`);
  assertEquals([group.succeeded, group.givenUp, group.unfinished], [group.arrivals, 0, 0]);
  assertEquals(group.attempts, group.succeeded + group.failures["outage"]!);
  const queue = await simulate(config, loadWith("queue"));
  assertEquals([queue.succeeded, queue.attempts], [queue.arrivals, queue.succeeded + queue.failures["outage"]!]);

  const { failures, attempts, succeeded, givenUp } = await simulate(configOf({ concurrency: 20 }), loadWith("group"));
  assertEquals([attempts, givenUp], [succeeded + failures["outage"]!, 0]); // without groups: the item, counted once
});
