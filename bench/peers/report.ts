/** Report on the results, as a Markdown page. */

import { FEW_ROUNDS } from "../rows/row.ts";
import { boundsSection, figuresSection, type Result } from "../rows/tables.ts";
import { OURS } from "./row.ts";

/** Facts about one run of the benchmarks. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly rounds: number;
  readonly minutes: number;
}

/** Returns the whole page. */
export function report(results: readonly Result[], { machine, versions, rounds, minutes }: Facts): string {
  const lines = [
    "# Benchmarks",
    "",
    "Written by `npx -y deno task bench:peers`, which does the same work with this queue, with other queues and with the",
    "Go originals. Each measurement is a process of its own. [mitata](https://github.com/evanwashere/mitata) warms it up",
    "for 0.2 s and takes a sample of each run for 0.3 s, or of one run if that takes longer; the result is the median of",
    "the samples. In a round, the contenders of a row are measured right after each other, each round in another order.",
    "`npx -y deno task bench:cases` measures this queue alone. [Sizes](../docs/sizes.md) of bundles are not measured here.",
    "",
    `- ${machine}`,
    ...versions.map((version) => `- ${version}`),
    `- Rounds: ${rounds}; at most ${FEW_ROUNDS} for rows that compare nothing. Minutes: ${minutes.toFixed(0)}`,
    "",
    ...boundsSection(results, OURS, rounds, [
      "“2 × client-go” means that twice as much gets done in the same time, whether client-go has one core or two. A ratio is",
      "computed from figures of the same row and the same round. The table shows the median over the rounds and, in",
      "parentheses, the first and the third quartile.",
    ]),
    "## Growth",
    "",
    "![Cost of a key from 1,000 to 1,000,000 keys](growth.svg)",
    "",
    "## Figures",
    "",
    ...results.flatMap(figuresSection),
  ];
  return lines.join("\n").trimEnd() + "\n";
}
