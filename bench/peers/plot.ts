/** Plot of the cost per key against the number of keys. */

import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Figures } from "../figures.ts";
import { CLIENT_GO, OURS } from "./work.ts";
import { SIZES } from "./works.ts";

const SERIES = [
  { label: "ready, on Deno", kind: "ready", contender: OURS, runtime: "deno" },
  { label: "ready, on Bun", kind: "ready", contender: OURS, runtime: "bun" },
  { label: "delayed, on Deno", kind: "delayed", contender: OURS, runtime: "deno" },
  { label: "delayed, on Bun", kind: "delayed", contender: OURS, runtime: "bun" },
  { label: "bare Map, on Deno", kind: "ready", contender: "bare Map: set, delete", runtime: "deno" },
  { label: "client-go, ready", kind: "ready", contender: CLIENT_GO, runtime: "1" },
] as const;

/** Returns the plot as SVG. */
export async function plotGrowth(figures: Figures): Promise<string> {
  const values = SERIES.flatMap(({ label, kind, contender, runtime }) =>
    SIZES.map((keys) => ({ label, keys, cost: figures.median({ work: `${kind} ${keys}`, contender, runtime }) }))
      .filter(({ cost }) => !Number.isNaN(cost))
  );
  const spec: TopLevelSpec = {
    background: "white",
    padding: 16,
    width: 560,
    height: 320,
    data: { values },
    mark: { type: "line", point: true },
    encoding: {
      x: { field: "keys", type: "quantitative", scale: { type: "log" }, axis: { format: "~s", title: "keys" } },
      y: { field: "cost", type: "quantitative", axis: { title: "nanoseconds a key" } },
      color: { field: "label", type: "nominal", sort: SERIES.map(({ label }) => label), legend: { title: null } },
    },
  };
  return await new View(parse(compile(spec).spec), { renderer: "none" }).toSVG();
}
