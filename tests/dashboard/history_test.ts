/** Samples of a queue, and the rates computed from them. */

import { assertEquals } from "@std/assert";
import { History, type Sample, sampleOf } from "../../packages/dashboard/watch/history.ts";

/** Returns a sample of a queue in which `becameReady` items became ready and `handedOut` were handed out. */
function sample(at: number, becameReady: number, handedOut: number, others: Partial<Sample> = {}): Sample {
  const none = { delayed: 0, processing: 0, failing: 0, attempts: handedOut, failed: 0, givenUp: 0, oldest: 0 };
  return { at, becameReady, handedOut, ready: becameReady - handedOut, ...none, ...others };
}

function historyOf(...samples: Sample[]): History {
  const history = new History();
  for (const one of samples) history.add(one);
  return history;
}

Deno.test("history: rates cover the last minute, or the available part of it", () => {
  const history = historyOf(sample(0, 0, 0));
  assertEquals(history.rates(sample(500, 10, 10)).in, null); // too short a period for a rate
  assertEquals(history.rates(sample(10_000, 50, 20)).in, 5);
  for (let at = 5000; at <= 120_000; at += 5000) history.add(sample(at, at < 90_000 ? 0 : 600, 0));
  assertEquals([history.rates(sample(120_000, 600, 60)).in, history.rates(sample(120_000, 600, 60)).out], [10, 1]);
  assertEquals(history.rates(sample(200_000, 600, 60)).in, null); // no recent samples
});

Deno.test("history: counts that restart cause no negative rates", () => {
  const history = historyOf(sample(0, 100, 100), sample(5000, 0, 0));
  assertEquals(history.rates(sample(6000, 0, 0)).in, 0);
  assertEquals(history.lists(6000, 6000).in, [null, 0]);
});

Deno.test("history: an unknown value is null, and rates continue after it", () => {
  const history = historyOf(sample(0, 10, 0), sampleOf(5000, undefined), sample(10_000, 30, 0));
  const lists = history.lists(10_000, 1_700_000_010_000);
  assertEquals(lists.time, [1_700_000_000_000, 1_700_000_005_000, 1_700_000_010_000]);
  assertEquals([lists.ready, lists.in], [[10, null, 30], [null, null, null]]);
  assertEquals(history.rates(sample(20_000, 50, 0)).in, 2);
  assertEquals(historyOf(sample(0, 0, 0, { failing: NaN })).lists(0, 0).failing, [null]);
});

Deno.test("history: times are those of the current wall clock", () => {
  const history = historyOf(sample(7, 0, 0));
  assertEquals(history.lists(5007, 99_000).time, [94_000]);
});

Deno.test("history: the trend has one number for every three samples, and keeps the chosen samples as time passes", () => {
  const history = new History();
  const trends: string[] = [];
  for (let i = 0; i < 200; i++) {
    history.add(sample(i * 5000, i, 0));
    trends.push(history.trend().join());
  }
  assertEquals(trends.slice(0, 4), ["0", "0", "0", "0,3"]);
  assertEquals(new Set(trends.slice(0, 180)).size, 60);
  assertEquals(Math.max(...trends.map((trend) => trend.split(",").length)), 60);
});

Deno.test("history: a trend is the slope over a period, and unknown for the first half minute", () => {
  const history = new History();
  for (let at = 0; at < 600_000; at += 5000) history.add(sample(at, at < 300_000 ? at / 100 : 3000, 0));
  history.add(sampleOf(600_000, undefined));
  const now = sample(605_000, 3000, 0);
  const rounded = (time: number) => {
    const { perSecond, ms } = history.trendOf("ready", now, time)!;
    return [Math.round(perSecond * 100) / 100, ms];
  };
  assertEquals(rounded(300_000), [0, 300_000]);
  assertEquals(rounded(900_000), [5, 605_000]);
  assertEquals(historyOf(sample(0, 0, 0), sample(5000, 50, 0)).trendOf("ready", sample(29_999, 300, 0), 60_000), null);
  assertEquals(historyOf(sample(0, 0, 0)).trendOf("ready", sample(30_000, 300, 0), 60_000), {
    perSecond: 10,
    ms: 30_000,
    rises: true,
  });
});

Deno.test("history: a number may end below its start although the fitted line rises", () => {
  const history = new History();
  for (const [i, ready] of [200, 0, 50, 100, 150, 200, 250, 300].entries()) history.add(sample(i * 5000, ready, 0));
  const { perSecond, rises } = history.trendOf("ready", sample(40_000, 190, 0), 300_000)!;
  assertEquals([perSecond > 0, rises], [true, false]);
});
