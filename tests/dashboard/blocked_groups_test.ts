/** Groups of a queue on the dashboard: which are blocked, for how long, and the controls that pause and resume one. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  adaptDiscipline,
  createDefaultItemLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  type QueueDiscipline,
  RetryAfterError,
  runWorkers,
} from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { BlockedGroups } from "../../packages/dashboard/watch/blocked_groups.ts";
import { flush, takeAll } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

type FairOptions = Parameters<typeof createFairDiscipline<string>>[0];

/** Creates a queue with a fair discipline, on a dashboard. */
function start(options: Partial<FairOptions> = {}, items: readonly string[] = []) {
  const discipline = createFairDiscipline<string>({ separator: "/", ...options } as FairOptions);
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { discipline });
  for (const item of items) queue.add(item);
  const asked = new Asked({ queues: { images: { queue } } });
  const list = async (query = "") => (await asked.details("images", query)).blockedGroups!;
  const groups = async (query = "") => (await list(query)).groups.map((group) => Object.values(group));
  return { queue, asked, list, groups, [Symbol.dispose]: () => asked[Symbol.dispose]() };
}

Deno.test("blocked groups: the most blocked items come first, with the reason and the time left", async () => {
  using time = new FakeTime();
  const items = ["a/1", "b/1", "b/2", "b/3", "c/1", "d/1", "d/2"];
  using started = start({ ratePerGroup: { rate: 0.1, burst: 1 } }, items);
  const { queue, list } = started;
  queue.pauseGroup("b", "30s");
  queue.pauseGroup("e", "1h");
  for (const item of ["a/1", "c/1", "d/1"]) assertEquals(queue.tryGet()?.item, item);
  time.tick(1000);
  assertEquals(await list(), {
    count: 3,
    groups: [
      { name: "b", reason: "paused", blocked: 3, resumesInMs: 29_000 },
      { name: "d", reason: "rate", blocked: 1, resumesInMs: 9000 },
      { name: "e", reason: "paused", blocked: 0, resumesInMs: 3_599_000 },
    ],
  });
  time.tick(29_000);
  assertEquals(await started.groups("?limit=1"), [["b", "probing", 2, null]]);
});

Deno.test("blocked groups: the verdict's reason is that of the groups, even if others continue", async () => {
  using time = new FakeTime();
  using started = start({ maxPerGroup: 1 }, ["a/1", "b/1", "b/2"]);
  const { asked, queue } = started;
  const reason = async () => {
    time.tick(1000);
    return (await asked.verdict())[1];
  };
  queue.pauseGroup("b", "30s");
  const lease = queue.tryGet()!;
  assertEquals(await reason(), "2 items are blocked because their groups are paused; 1 item is processing.");
  queue.add("a/2");
  time.tick(20_000); // the groups are looked at again
  assertEquals(
    await reason(),
    "3 items are blocked: 2 because their groups are paused and 1 because its group is at its limit; " +
      "1 item is processing.",
  );
  lease[Symbol.dispose]();
});

Deno.test("blocked groups: a group is paused and resumed, whether it has items or not", async () => {
  using time = new FakeTime();
  using started = start({}, ["a/1", "a/2", "b/1"]);
  const { asked, groups, queue } = started;
  const post = (action: string, body: object) => asked.post(`api/queues/images/${action}`, body);
  assertEquals(await post("pause-group", { group: "a", duration: "30s" }), [
    200,
    'The group "a" is paused for 30 s: its ready items are blocked, and running handlers continue.',
  ]);
  assertEquals(await groups(), [["a", "paused", 2, 30_000]]);
  assertEquals(takeAll(queue), ["b/1"]);
  assertEquals(await post("pause-group", { group: "a", duration: "10s" }), [
    200,
    'The group "a" is paused for 30 s: its ready items are blocked, and running handlers continue.',
  ], "the later end applies");
  await post("pause-group", { group: "new", duration: 60_000 });
  assertEquals((await groups()).at(-1), ["new", "paused", 0, 60_000]);
  assertEquals(await post("resume-group", { group: "a" }), [200, 'The group "a" is resumed.']);
  assertEquals(await post("resume-group", { group: "a" }), [200, 'The group "a" was not paused: nothing was done.']);
  queue.pauseGroup("a", "30s");
  time.tick(30_000);
  assertEquals(await groups(), [["new", "paused", 0, 30_000], ["a", "probing", 1, null]].reverse());
  assertEquals(await post("resume-group", { group: "a" }), [200, 'The group "a" is resumed.'], "without a probe");
  assertEquals(takeAll(queue), ["a/1", "a/2"]);
  assertEquals((await asked.get("api/audit").then((response) => response.json())).acts[0].action, "resume-group");
  assertEquals(await post("pause-group", { group: "a" }), [
    422,
    "Cannot pause group: the body must have 'duration'",
  ]);
  assertEquals(await post("pause-group", { duration: "1s" }), [422, "Cannot pause group: the body must have 'group'"]);
});

Deno.test("blocked groups: 10,000 paused groups are counted and searched, and few are listed", async () => {
  using _time = new FakeTime();
  using started = start();
  const { queue, asked, list } = started;
  for (let i = 0; i < 10_000; i++) queue.pauseGroup(`tenant-${i}`, "1h");
  for (let i = 0; i < 3; i++) queue.add(`tenant-7777/${i}`);
  const all = await list();
  assertEquals([all.count, all.groups.length, all.groups[0]!.name], [10_000, 50, "tenant-7777"]);
  assert(JSON.stringify(await asked.details("images")).length < 20_000);
  const found = await list("?search=NANT-99&limit=1000");
  assertEquals([found.count, found.groups.length], [111, 111]);
  assertEquals((await list("?search=tenant-1234")).groups.map(({ name }) => name), ["tenant-1234"]);
  assertEquals(await list("?search=nobody"), { count: 0, groups: [] });
});

Deno.test("blocked groups: of more than 10,000 groups, those with the most items are found, and all are counted", async () => {
  using time = new FakeTime();
  using started = start();
  const { queue, list } = started;
  for (let i = 0; i < 30_000; i++) queue.pauseGroup(`tenant-${i}`, "1h");
  for (const item of ["tenant-29999/1", "tenant-29999/2", "tenant-15000/1"]) queue.add(item);
  let listing = list();
  for (let i = 0; i < 100; i++) await time.tickAsync(1); // a scan may take several slices
  await listing;
  listing = list();
  for (let i = 0; i < 100; i++) await time.tickAsync(1);
  const { count, groups } = await listing;
  assertEquals([count, groups.slice(0, 2).map(({ name }) => name)], [30_000, ["tenant-29999", "tenant-15000"]]);
  listing = list("?search=tenant-1");
  for (let i = 0; i < 100; i++) await time.tickAsync(1);
  assertEquals((await listing).count, null, "not all were searched");
});

Deno.test("blocked groups: after a slow scan, the next one waits unless something changed, and nothing stale is listed", async () => {
  using time = new FakeTime();
  const blocks = new Map([["a", 1], ["b", 2]]);
  let scans = 0;
  const groups = new BlockedGroups({
    *groupNames() {
      scans++;
      for (const name of blocks.keys()) {
        time.tick(100); // each name takes that long
        yield name;
      }
    },
    blockOf(name) {
      const blocked = blocks.get(name as string);
      return blocked === undefined ? undefined : { reason: "paused", blocked, resumesInMs: 1000 };
    },
    pause: (_group, ms) => ms,
    resume: () => true,
  });
  const list = async () => {
    let names: string[] | undefined;
    void groups.list("", 50).then(({ groups }) => names = groups.map(({ name }) => name));
    while (names === undefined) await time.tickAsync(1);
    return names;
  };
  assertEquals([await list(), scans], [["b", "a"], 1]);
  blocks.delete("b");
  blocks.set("c", 9);
  assertEquals([await list(), scans], [["a"], 1]);
  groups.forget();
  assertEquals([await list(), scans], [["c", "a"], 2]);
  await time.tickAsync(19 * 400);
  assertEquals([await list(), scans], [["c", "a"], 3]);
});

Deno.test("blocked groups: after an act on the queue, the next list is computed anew", async () => {
  let scans = 0;
  const fair = createFairDiscipline<string>({ separator: "/" });
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { discipline: fair });
  const groups = inspectionOf(queue)!.groups!;
  const names = groups.groupNames!.bind(groups);
  using time = new FakeTime();
  groups.groupNames = () => {
    scans++;
    time.tick(2); // so that there is a rest after the scan
    return names();
  };
  using asked = new Asked({ queues: { images: { queue } } });
  const count = async () => (await asked.details("images")).blockedGroups!.count;
  assertEquals([await count(), await count(), scans], [0, 0, 1]);
  assertEquals((await asked.post("api/queues/images/pause-group", { group: "a", duration: "1m" }))[0], 200);
  assertEquals([await count(), scans], [1, 2]);
});

Deno.test("blocked groups: a queue without groups has none, and refuses to pause one", async () => {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  using asked = new Asked({ queues: { images: { queue } } });
  assertEquals((await asked.details("images")).blockedGroups, null);
  for (
    const [action, body] of [["pause-group", { group: "a", duration: 1 }], ["resume-group", { group: "a" }]] as const
  ) {
    assertEquals(await asked.post(`api/queues/images/${action}`, body), [
      422,
      "The queue has no groups that can be paused: its discipline is not fair.",
    ]);
  }
});

Deno.test("blocked groups: a group that is not a string is resumed by its displayed text", async () => {
  using _time = new FakeTime();
  const discipline = createFairDiscipline<string>({ groupOf: (item) => Number(item.split("/")[0]) });
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { discipline });
  using asked = new Asked({ queues: { images: { queue } } });
  queue.add("7/a");
  queue.pauseGroup(7, "1h");
  assertEquals((await asked.details("images")).blockedGroups!.groups.map(({ name }) => name), ["7"]);
  assertEquals(await asked.post("api/queues/images/resume-group", { group: "7" }), [200, 'The group "7" is resumed.']);
  assertEquals(takeAll(queue), ["7/a"]);
});

Deno.test("blocked groups: groups of a discipline that lists none can still be paused", async () => {
  using _time = new FakeTime();
  const fair = createFairDiscipline<string>({ separator: "/" });
  const discipline = adaptDiscipline<QueueDiscipline<string>>({
    push: (entry) => fair.push(entry),
    pop: () => fair.pop(),
    touch: (entry) => fair.touch(entry),
    done: (entry, work) => fair.done!(entry, work),
    pauseGroup: (group, until) => fair.pauseGroup!(group, until),
    resumeGroup: (group) => fair.resumeGroup!(group),
    get length() {
      return fair.length;
    },
    get blocked() {
      return fair.blocked!;
    },
  });
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { discipline });
  using asked = new Asked({ queues: { images: { queue } } });
  queue.add("a/1");
  assertEquals((await asked.post("api/queues/images/pause-group", { group: "a", duration: "1m" }))[0], 200);
  assertEquals([queue.length, (await asked.details("images")).blockedGroups], [0, { count: null, groups: [] }]);
  assertEquals(await asked.post("api/queues/images/resume-group", { group: "a" }), [200, 'The group "a" is resumed.']);
  assertEquals(queue.length, 1);
});

Deno.test("blocked groups: if a server asked for a pause, the pause is the reason why nothing is handed out", async () => {
  using _time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  await using pool = runWorkers(queue, () => {
    throw new RetryAfterError("30s", "429", { scope: "queue" });
  }, { onError() {} });
  using asked = new Asked({ queues: { images: { queue, pool } } });
  for (const item of ["a", "b", "c"]) queue.add(item);
  await flush();
  const { ready, blocked } = queue.snapshot();
  assertEquals(ready, 0);
  assertEquals(await asked.verdict(), [
    "paused",
    `A server asked to wait (RetryAfterError): nothing is handed out for another 30 s; ${blocked} items are blocked.`,
  ]);
  queue.shutDown();
});
