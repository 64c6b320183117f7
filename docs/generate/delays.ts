import { type BuiltInConfig, limiters } from "@workqueue/core";
import { describeOptions } from "../../packages/cli/delays/document.ts";
import { measureDelays } from "../../packages/cli/delays/measure.ts";
import { svgOf } from "../../packages/cli/delays/svg.ts";
import { builtIns } from "./built_ins.ts";

const FAILURES = 20;

/** Returns the plot as SVG, drawn like the plots of `workqueue delays`. */
export function plotDelays(): string {
  return svgOf(builtIns.map(({ example }) => ({
    title: example.type,
    description: describe(example),
    delays: measureDelays((context) => limiters.build(example, context), FAILURES),
  })));
}

function describe({ type: _, ...options }: BuiltInConfig): string[] {
  return describeOptions(options);
}
