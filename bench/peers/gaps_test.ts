import { deepEqual } from "node:assert/strict";
import { type Gap, longestOf } from "./gaps.ts";

const gap = (from: number, to: number, more: Partial<Gap> = {}): Gap => ({
  ...{ from, to, fromWaited: 0, toWaited: 0, fromLogged: 0, toLogged: 0 },
  ...more,
});
const NOTHING = { collections: [], calibrations: [] };

Deno.test("gaps: the longest gap counts, without the time in which other processes had the CPU", () => {
  const gaps = [gap(0, 5), gap(10, 30, { fromWaited: 2, toWaited: 18 }), gap(40, 47)];
  deepEqual(longestOf({ ...NOTHING, gaps }, ""), { longest: 7, collection: 0, total: 7 });
});

Deno.test("gaps: a garbage collection belongs to the gap with most of it", () => {
  const gaps = [gap(0, 10), gap(10, 30), gap(30, 42)];
  const collections = [{ from: 9, to: 24 }, { from: 25, to: 26 }, { from: 60, to: 70 }];
  deepEqual(longestOf({ gaps, collections, calibrations: [] }, ""), { longest: 12, collection: 16, total: 20 });
});

Deno.test("gaps: reads the log of V8, whose clock starts earlier", () => {
  const log = [
    "[5020:0x5575e6c64000]      105 ms: Mark-Compact 17.5 (21.0) -> 17.6 (23.3) MB, pooled: 0.0 MB, 9.00 / 0.00 ms (average mu = 1.000) testing; GC in old space requested",
    "[5020:0x5575e6c64000]      320 ms: Scavenge 16.9 (20.0) -> 14.9 (20.5) MB, pooled: 0.0 MB, 12.50 / 0.00 ms (average mu = 1.000) allocation failure; ",
  ].join("\n");
  const { longest, collection } = longestOf({ gaps: [gap(200, 222)], collections: [], calibrations: [5] }, log);
  deepEqual(collection, 12.5); // from 207.5 to 220 by `performance.now`
  deepEqual(longest, 9.5);
});

Deno.test("gaps: reads the part of the log of JavaScriptCore that was written during the gap", () => {
  const lines = [
    "[GC<0x1>: START M => FullCollection, p=9.5ms (max 9.5)...]",
    "[GC<0x1>: p=2.25ms p=1ms (max 9.5)...]",
  ];
  const log = lines.join("\n");
  const gaps = [gap(0, 8, { fromLogged: lines[0]!.length, toLogged: log.length })];
  deepEqual(longestOf({ ...NOTHING, gaps }, log), { longest: 4.75, collection: 3.25, total: 8 });
});
