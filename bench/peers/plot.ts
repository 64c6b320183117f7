/** Plot of the cost per key against the number of keys. */

import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { medianOf } from "../statistics.ts";
import { among, BARE_MAP, SIZES } from "./growth.ts";
import { CLIENT_GO } from "./row.ts";
import type { RowFigures } from "../rows/row_figures.ts";

/** Returns the plot as SVG. `ready` and `delayed` are the figures of the two rows about growth. */
export async function plotGrowth(ready: RowFigures, delayed: RowFigures): Promise<string> {
  const series = [
    { label: "ready, on Deno", figures: ready, runtime: "deno" },
    { label: "ready, on Bun", figures: ready, runtime: "bun" },
    { label: "ready, on Node", figures: ready, runtime: "node" },
    { label: "delayed, on Deno", figures: delayed, runtime: "deno" },
    { label: "delayed, on Bun", figures: delayed, runtime: "bun" },
    { label: "delayed, on Node", figures: delayed, runtime: "node" },
    { label: "bare Map, on Deno", figures: ready, contender: BARE_MAP, runtime: "deno" },
    { label: "client-go, ready", figures: ready, contender: CLIENT_GO, runtime: "1" },
  ];
  const values = series.flatMap(({ label, figures, contender, runtime }) =>
    SIZES.map((keys) => ({ label, keys, cost: medianOf(figures.of(among(keys, contender), runtime)) }))
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
      color: { field: "label", type: "nominal", sort: series.map(({ label }) => label), legend: { title: null } },
    },
  };
  return await new View(parse(compile(spec).spec), { renderer: "none" }).toSVG();
}
