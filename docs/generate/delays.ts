import { type BuiltInConfig, type Clock, type LimiterConfig, limiters } from "@workqueue/core";
import { builtIns } from "./built_ins.ts";
import { draw } from "./draw.ts";

const FAILURES = 20;

/** The delays of an item that fails again as soon as it is tried. */
function delaysOf(config: BuiltInConfig): { failure: number; delay: number }[] {
  let time = 0;
  const clock: Clock = { now: () => time, setTimeout: () => 0, clearTimeout: () => {} };
  const limiter = limiters.build(config, { clock, random: createRandom() });
  return Array.from({ length: FAILURES }, (_, i) => {
    const delay = limiter.when("item");
    time += delay;
    return { failure: i + 1, delay };
  });
}

/** Random numbers that are the same for each picture: Lehmer's generator (Park and Miller, CACM 31, 1988). */
function createRandom(): () => number {
  const modulus = 2 ** 31 - 1;
  let state = 1;
  return () => (state = state * 48_271 % modulus) / modulus;
}

/** The options of a limiter, as the same number of lines for each so that the plots are in line. */
function describe({ type: _, ...options }: BuiltInConfig): string[] {
  const lines = Object.entries(options).flatMap(([option, value]) =>
    `${option} ${[value].flat().map(nameOf).join(",\n")}`.split("\n")
  );
  return [...lines, "\u00a0", "\u00a0"].slice(0, 3);
}

function nameOf(value: LimiterConfig | number): string {
  return typeof value === "object" ? value.type : String(value);
}

/** Marks of the axis, in milliseconds. */
const TICKS: Readonly<Record<number, string>> = {
  0: "0",
  10: "10 ms",
  100: "100 ms",
  1000: "1 s",
  10_000: "10 s",
  60_000: "1 min",
  600_000: "10 min",
};

/** The plot, as SVG. */
export function plotDelays(): Promise<string> {
  const ticks = Object.keys(TICKS).map(Number);
  return draw({
    spacing: 20,
    bounds: "flush",
    hconcat: builtIns.map(({ example }, i) => ({
      title: { text: example.type, subtitle: describe(example) },
      width: 132,
      height: 220,
      data: { values: delaysOf(example) },
      mark: { type: "line", interpolate: "step", point: { size: 16 } },
      encoding: {
        x: { field: "failure", type: "quantitative", scale: { domain: [0, FAILURES] }, axis: { title: "failures" } },
        y: {
          field: "delay",
          type: "quantitative",
          // Logarithmic, but for the first few milliseconds: there are delays of none.
          scale: { type: "symlog", constant: 5, domain: [0, 1_200_000] },
          axis: {
            title: null,
            values: ticks,
            labels: i === 0,
            labelExpr: `${JSON.stringify(TICKS)}[datum.value]`,
          },
        },
      },
    })),
  });
}
