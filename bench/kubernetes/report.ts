/** Report on the results, as a Markdown page. */

import type { Figures } from "../figures.ts";
import { table } from "../markdown.ts";
import { type Row, ROWS, type Unit } from "./bounds.ts";
import { type Contender, GO } from "./contenders.ts";
import type { Scale } from "./rows.ts";

/** Facts about one run of the benchmark. */
export interface Facts {
  readonly machine: string;
  readonly kubernetes: string;
  readonly contenders: readonly Contender[];
  /** Number of rounds of each group of rows. */
  readonly rounds: string;
  readonly minutes: number;
  /** Average numbers of processes that want a CPU. */
  readonly load: { readonly before: number; readonly during: number };
  readonly scale: Scale;
}

/** Returns the whole page. */
export function report(figures: Figures, facts: Facts): string {
  const { machine, kubernetes, contenders, rounds, minutes, load, scale } = facts;
  const page = [
    "# Benchmarks of Kubernetes controllers",
    "",
    "Written by `npx -y deno task bench:kubernetes`, which runs the same controller with controller-runtime and with",
    "`@workqueue/kubernetes` against a real API server with etcd on the same machine. The controller copies config maps to",
    "secrets, with a finalizer, an owner reference, and an annotation that it writes after that. In a round, each",
    "contender gets a new cluster for each group of rows. A figure is the median of the rounds, with the least and the",
    "most in brackets, and a ratio is the median of the ratios of the rounds. So that the controllers are measured and not",
    "the disk, etcd doesn't wait for it. Deno and Node run with V8's option `--optimize-for-size`.",
    "",
    `- ${machine}`,
    `- Processes that want a CPU, on average: ${load.before.toFixed(1)} before the run, ${
      load.during.toFixed(1)
    } in the run`,
    `- Kubernetes ${kubernetes}`,
    ...contenders.map(({ version }) => `- ${version}`),
    `- Rounds: ${rounds}. Minutes: ${minutes.toFixed(0)}`,
    "",
    "✓ and ✗ say whether a bound is met: at most so much, or so many times as much as with controller-runtime.",
    "",
    ...figuresTable(figures, contenders, scale),
    "",
    "- **Writes** of one object: the finalizer, the secret, and the annotation.",
    "- **Conflicts**: a write was based on an older version of the object. controller-runtime reads its cache right after",
    "  its own write, and may find the version before the write. `@workqueue/kubernetes` puts the answers to its writes",
    "  into its cache.",
    "- **Memory** is the largest resident memory, and includes the runtime.",
    "- **Half-open**: packets are lost in both directions without any notice, and new connections work.",
  ];
  return page.join("\n") + "\n";
}

function figuresTable(figures: Figures, contenders: readonly Contender[], scale: Scale): string[] {
  const lines = ["lines of the controller", ...contenders.map((contender) => String(contender.lines))];
  const isMeasured = ({ figure }: Row) =>
    contenders.some(({ name }) => !Number.isNaN(figures.median(figureOf(figure, name))));
  const rows = ROWS.filter(isMeasured).map((
    row,
  ) => [row.title(scale), ...contenders.map(({ name }) => cell(figures, row, name))]);
  return table(["", ...contenders.map(({ name }) => name)], [lines, ...rows]);
}

function cell(figures: Figures, row: Row, name: string): string {
  const figure = figureOf(row.figure, name);
  const value = figures.median(figure);
  if (Number.isNaN(value)) return "failed";
  const [least, most] = figures.spread(figure).map((end) => withUnit(end, row.unit));
  const text = least === most ? withUnit(value, row.unit) : `${withUnit(value, row.unit)} [${least} to ${most}]`;
  if (name === GO) return text;
  if (row.ratio !== undefined) {
    const ratio = figures.ratio(figure, figureOf(row.figure, GO));
    return Number.isNaN(ratio) ? text : `${text} ${mark(ratio <= row.ratio)} ${ratio.toFixed(2)} × (${row.ratio} ×)`;
  }
  const bound = row.atMost?.[name];
  return bound === undefined ? text : `${text} ${mark(value <= bound)} (${withUnit(bound, row.unit)})`;
}

/** Returns the identity of a figure of a contender. */
export function figureOf(figure: string, contender: string): { work: string; contender: string; runtime: string } {
  return { work: figure, contender, runtime: "" };
}

function mark(isMet: boolean): string {
  return isMet ? "✓" : "✗";
}

function withUnit(value: number, unit: Unit): string {
  if (unit === "count") return Math.round(value).toLocaleString("en");
  if (unit === "s") return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`;
  return `${value.toFixed(0)} ${unit}`;
}
