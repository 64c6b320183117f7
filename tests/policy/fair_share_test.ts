import { assert, assertEquals } from "@std/assert";
import { type FairNumbers, FairShare, type GroupNumbers, newFrom, setPause } from "../../lib/policy/fair_share.ts";

const RULES = { maxPerGroup: Infinity, interval: 0, burst: 0, isByTime: false, round: Math.ceil };

const newNumbers = (): FairNumbers => ({ virtual: 0, latest: 0, mean: 1, count: 0 });

const newGroup = (weight = 1): GroupNumbers => ({
  start: 0,
  finish: 0,
  processing: 0,
  ready: 0,
  cost: 1 / weight,
  full: 0,
  mean: 0,
  count: 0,
  pause: null,
  probe: null,
});

Deno.test("fair share: a turn costs less the larger the weight of its group", () => {
  const share = new FairShare(RULES, newNumbers());
  const [one, two] = [newGroup(), newGroup(2)];
  assertEquals([share.handOut(one, "a", 0), share.handOut(two, "b", 0)], [1, 0.5]);
  assertEquals([share.nextStart(one, true), share.nextStart(two, true)], [1, 0.5]);
});

Deno.test("fair share: a group without items begins at the current virtual time when it gets one", () => {
  const share = new FairShare(RULES, newNumbers());
  const [busy, idle] = [newGroup(), newGroup()];
  for (let turn = 0; turn < 5; turn++) {
    busy.start = share.nextStart(busy, turn > 0);
    share.handOut(busy, turn, 0);
  }
  assertEquals([share.nextStart(idle, false), share.nextStart(busy, true)], [4, 5]);
});

Deno.test("fair share: the mean first covers all durations, and later follows the latest ones", () => {
  const numbers = newNumbers();
  const share = new FairShare({ ...RULES, isByTime: true }, numbers);
  const [group, other] = [newGroup(), newGroup()];
  assertEquals(share.costOf(group), 1);
  share.correct(group, 10, 0);
  assertEquals([share.costOf(group), share.costOf(other)], [10, 10]);
  share.correct(group, 20, 0);
  share.correct(group, 60, 0);
  assertEquals([group.count, group.mean], [3, 30]);
  for (let i = 0; i < 1000; i++) share.correct(group, 10, 0);
  for (let i = 0; i < 500; i++) share.correct(group, 1000, 0);
  assert(group.mean > 990 && group.mean <= 1000, `${group.mean}`);
});

Deno.test("fair share: with turns by time, a group pays for the time that its items took", () => {
  const share = new FairShare({ ...RULES, isByTime: true }, newNumbers());
  const group = newGroup(2);
  assertEquals(share.handOut(group, "a", 0), 0.5);
  assertEquals(share.correct(group, 10, 1), 4.5);
  assertEquals(group.finish, 5);
});

Deno.test("fair share: a limit and a rate bound the items that can be handed out", () => {
  const share = new FairShare({ ...RULES, maxPerGroup: 3, interval: 100, burst: 2 }, newNumbers());
  const group = newGroup();
  group.processing = 2;
  assertEquals([share.limit(group, 5, 1000), group.ready], [Infinity, 1]);
  assertEquals(share.blockOf(group, 1000), { reason: "limit", until: Infinity });
  group.processing = 0;
  share.handOut(group, "a", 1000);
  share.handOut(group, "b", 1000);
  assertEquals([share.limit(group, 5, 1000), group.ready], [1100, 0]);
  assertEquals(share.blockOf(group, 1000), { reason: "rate", until: 1100 });
  assertEquals([share.limit(group, 5, 1100), group.ready], [1200, 1]);
  assertEquals([share.limit(group, 5, 1200), group.ready, share.keptUntil(group)], [Infinity, 2, 1200]);
});

Deno.test("fair share: after a pause, one item is the probe, and the pause ends when it succeeds", () => {
  const share = new FairShare(RULES, newNumbers());
  const group = newGroup();
  setPause(group, 500);
  setPause(group, 400); // the later end counts
  assertEquals([share.limit(group, 3, 499), group.ready], [500, 0]);
  assertEquals(share.blockOf(group, 499), { reason: "paused", until: 500 });
  assertEquals([share.limit(group, 3, 500), group.ready, newFrom(group)], [Infinity, 1, Number.MAX_VALUE]);
  share.handOut(group, "probe", 500);
  group.processing = 2;
  assertEquals([share.limit(group, 2, 500), group.ready], [Infinity, 0]);
  assertEquals(share.blockOf(group, 500), { reason: "probing", until: Infinity });
  share.end(group, "other");
  assertEquals([share.limit(group, 2, 500), group.ready], [Infinity, 0]);
  share.end(group, "probe");
  assertEquals([share.limit(group, 2, 500), group.ready, newFrom(group)], [Infinity, 2, group.finish]);
});

Deno.test("fair share: a longer pause needs a new probe", () => {
  const share = new FairShare(RULES, newNumbers());
  const group = newGroup();
  setPause(group, 500);
  share.handOut(group, "first", 500);
  setPause(group, 700);
  group.processing = 1;
  share.end(group, "first");
  assertEquals([share.limit(group, 2, 700), group.ready, group.pause], [Infinity, 1, 700]);
});
