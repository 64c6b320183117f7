/** Tests of figures and facts that can be calculated by hand. */

import { assert, assertEquals } from "@std/assert";
import { type LoadDocument, simulate, svgOf, textOf } from "@workqueue/simulate";

type Parts = Partial<LoadDocument> & { readonly arrivals: LoadDocument["arrivals"] };

/** Simulates a queue with the given options. By default, each attempt takes a second. */
function run(queue: object, load: Parts) {
  const document = { duration: "1m", work: { type: "constant", time: "1s" }, ...load };
  return simulate({ queues: { jobs: queue } }, document);
}

const burst = (size: number, from = "0s") => ({ type: "bursts", size, from });

Deno.test("figures: workers are never busy for longer than the simulated time", async () => {
  const four = { arrivals: [burst(4)] };
  // Attempts that run when a deploy begins end at 1 s, and the new process starts at 4 s.
  const deploy = { type: "deploy", at: "500ms", for: "3s" };
  const deployed = await run({ concurrency: 2 }, { arrivals: [burst(2), burst(1, "5s")], changes: [deploy] });
  assertEquals([deployed.duration, deployed.utilization], [6000, 3 / 6]); // 2 workers for 1 s, and from 4 s on
  const draining = await run({ concurrency: 2 }, { ...four, changes: [deploy] });
  assertEquals([draining.duration, draining.utilization], [2000, 1]);
  const lowered = { type: "concurrency", at: "500ms", concurrency: 1 };
  assertEquals((await run({ concurrency: 4 }, { ...four, changes: [lowered] })).utilization, 1);
});

Deno.test("figures: attempts that are running at the end count as work", async () => {
  const work = { type: "constant", time: "3m" };
  const stopped = await run({}, { arrivals: [burst(2)], work });
  assertEquals([stopped.duration, stopped.unfinished, stopped.utilization], [120_000, 2, 1]);
  const failures = [{ type: "hang", probability: 1 }];
  const hanging = await run({ concurrency: 2 }, { arrivals: [burst(1), burst(1, "30s")], failures });
  assertEquals([hanging.duration, hanging.unfinished, hanging.utilization], [30_000, 2, 1 / 2]);
});

Deno.test("figures: an item waits until all pauses have ended", async () => {
  const changes = [{ type: "pause", at: 0, for: "10s" }, { type: "pause", at: "1s", for: "2s" }];
  for (const given of [changes, changes.toReversed()]) {
    const { waits, duration } = await run({}, { arrivals: [burst(1, "4s")], changes: given });
    assertEquals([waits.max, duration], [6000, 11_000]);
  }
});

Deno.test("facts: scheduled changes during a deploy are not carried out, except for reloads", async () => {
  const deploy = { type: "deploy", at: "2s", for: "10s" };
  const changes = [
    deploy,
    { type: "pause", at: "3s", for: "1h" },
    { type: "concurrency", at: "4s", concurrency: 9 },
    { ...deploy, at: "5s" },
    { type: "reload", at: "6s", config: "two" },
  ];
  const document = { duration: "1m", arrivals: [burst(2, "20s")], work: { type: "constant", time: "1s" }, changes };
  const config = (concurrency: number) => ({ queues: { jobs: { concurrency } } });
  const { facts, duration } = await simulate(config(1), document, { configs: { two: config(2) } });
  assertEquals(duration, 21_000);
  assertEquals(facts, [
    "The pause at 3s was not carried out: a deploy had not ended.",
    "The change of concurrency at 4s was not carried out: a deploy had not ended.",
    "The deploy at 5s was not carried out: a deploy had not ended.",
  ]);
});

Deno.test("facts: lost and given-up items are counted among all items, whether there are one or several", async () => {
  const failures = [{ type: "poison", share: 1 }];
  const one = await run({ maxRetries: 0 }, { arrivals: [burst(1)], failures });
  assertEquals(one.facts[0], "1 item was given up, 100 % of all items.");
  const deploy = { type: "deploy", at: "500ms", relist: false };
  const lost = await run({}, { arrivals: [burst(1)], failures, changes: [deploy] });
  assertEquals(lost.facts[0], "1 item was lost in a deploy.");
  // Events add the key while its last attempt runs, so another item begins, although nothing else arrives.
  const limiter = { type: "exponential", baseDelay: "10s", maxDelay: "10s" };
  const load = { arrivals: [burst(1)], failures, eventsWhileFailing: "1s" };
  const { arrivals, givenUp, facts } = await run({ limiter, maxRetries: 3 }, load);
  assert(givenUp > arrivals, `${givenUp}`);
  assertEquals(facts[0], `${givenUp} items were given up, 100 % of all items.`);
});

Deno.test("figures: an empty report can be drawn, and times are rounded to the next unit", async () => {
  const failures = [{ type: "outage", from: 0, for: "1s" }];
  assert(!svgOf(await run({}, { arrivals: [burst(1, "2h")], failures })).includes("NaN"));
  const work = { type: "constant", time: 999.6 };
  const text = textOf(await run({}, { arrivals: [burst(1)], work }));
  assert(text.includes(", 1s simulated,"), text);
});

Deno.test("figures: an item whose delay ends after its success belongs to its group", async () => {
  // The event at 3 s starts an attempt that succeeds at 4 s. The retry, due at 11 s, is one more.
  const limiter = { type: "exponential", baseDelay: "10s", maxDelay: "10s" };
  const keys = { type: "repeated", count: 1 };
  const failures = [{ type: "outage", from: 0, for: "1s" }];
  for (const group of ["eu", "eu/west"]) {
    const arrivals = [{ ...burst(1), group }, { ...burst(1, "3s"), group }, { ...burst(1, "20s"), group }];
    const { attempts, byGroup, waits } = await run({ limiter }, { arrivals, keys, failures });
    assertEquals([attempts, waits.count, byGroup[group]!.waits.count], [4, 4, 4]);
  }
});
