/** Tables of rows, for the reports. */

import { table } from "../markdown.ts";
import { type Summary, summaryOf } from "../statistics.ts";
import { type Bound, NAMES, PROCS, type Row, RUNTIMES } from "./row.ts";
import type { RowFigures } from "./row_figures.ts";
import { judge, type Judgement, MIN_ROUNDS, TOO_NOISY } from "./verdict.ts";

/** Row with its figures. */
export interface Result {
  readonly row: Row;
  readonly figures: RowFigures;
}

/**
 * Returns the section about the bounds.
 *
 * @param ours The contender whose name the table leaves out.
 * @param note Lines that say what the bounds mean.
 */
export function boundsSection(
  results: readonly Result[],
  ours: string,
  rounds: number,
  note: readonly string[],
): string[] {
  return [
    "## Bounds",
    "",
    ...note,
    "",
    ...rounds < MIN_ROUNDS ? [`**Fewer than ${MIN_ROUNDS} rounds: no verdicts on comparisons.**`] : [
      "✓ and ✗ are verdicts on the median. A row is *too noisy* for a verdict if the third quartile of the reference's",
      `figures is at least ${TOO_NOISY} times the first or, if there is no reference, if the quartiles are on different sides of`,
      "the bound.",
    ],
    "",
    ...boundsTable(results, ours),
    "",
  ];
}

/** Returns the table of all bounds. The table leaves out the name of the contender `ours`. */
export function boundsTable(results: readonly Result[], ours: string): string[] {
  const rows = results.flatMap(({ row, figures }) =>
    (row.bounds ?? []).map((bound, i) => {
      const { contender = figures.contenders[0]!, on = RUNTIMES } = bound;
      const cells = RUNTIMES.map((runtime) =>
        on.includes(runtime) ? judgementText(judge(bound, figures, runtime, row.rounds), unitOf(bound, row)) : ""
      );
      return [i === 0 ? row.title : "", contender === ours ? "" : contender, boundText(bound, row), ...cells];
    })
  );
  return table(["work", "", "bound", ...RUNTIMES.map((runtime) => NAMES[runtime])], rows);
}

function unitOf({ than, unit }: Bound, row: Row): string {
  return than === undefined ? unit ?? row.unit.split(" ")[0]! : "×";
}

function boundText(bound: Bound, row: Row): string {
  const { than, procs, atLeast, atMost } = bound;
  const reference = than === undefined ? "" : ` ${than}${procs === undefined ? "" : ` at GOMAXPROCS=${procs}`}`;
  if (than === undefined) {
    return `at ${atMost === undefined ? "least" : "most"} ${atMost ?? atLeast} ${unitOf(bound, row)}`;
  }
  if (atMost !== undefined) return `at most ${atMost} ×${reference}`;
  return atLeast === 1 ? `ahead of${reference}` : `${atLeast} ×${reference}`;
}

const MARKS = { reached: "✓ ", missed: "✗ ", "too noisy": "too noisy: ", "too few rounds": "" };

function judgementText(judgement: Judgement | undefined, unit: string): string {
  return judgement === undefined ? "" : MARKS[judgement.verdict] + summaryText(judgement, ` ${unit}`);
}

/** Returns the heading, the note and the table of a row. */
export function figuresSection({ row, figures }: Result): string[] {
  return [
    `### ${row.title}`,
    "",
    ...row.note === undefined ? [] : [row.note, ""],
    ...figuresTable({ row, figures }),
    "",
  ];
}

/** Returns the table of a row. If a bound compares contenders, the table has the ratios to the first contender too. */
function figuresTable({ row, figures }: Result): string[] {
  const [first] = figures.contenders;
  const isComparison = row.bounds?.some(({ than }) => than !== undefined) === true;
  const cells = (contender: string, measured: (runtime: string) => readonly number[], hasFigure: boolean) =>
    RUNTIMES.flatMap((runtime) => {
      const values = measured(runtime);
      const figure = hasFigure ? summaryText(summaryOf(values)) : "";
      if (!isComparison) return [figure];
      const reference = figures.of(first!, runtime);
      const ratios = values.map((value, i) => value / reference[i]!);
      return [figure, contender === first ? "" : summaryText(summaryOf(ratios), " ×")];
    });
  const rows = figures.contenders.flatMap((contender) => {
    const inGo = PROCS.filter((procs) => figures.of(contender, procs).length > 0);
    if (inGo.length === 0) return [[contender, ...cells(contender, (runtime) => figures.of(contender, runtime), true)]];
    return inGo.map((procs) => {
      const values = figures.of(contender, procs);
      const name = `${contender}, GOMAXPROCS=${procs}: ${summaryText(summaryOf(values))}`;
      return [name, ...cells(contender, () => values, false)];
    });
  });
  const head = RUNTIMES.flatMap((runtime) => isComparison ? [NAMES[runtime], `of ${first}`] : [NAMES[runtime]]);
  return table([row.unit, ...head], rows);
}

/** Returns the median and the quartiles; nothing if there are no figures. */
function summaryText({ low, median, high }: Summary, unit = ""): string {
  if (Number.isNaN(median)) return "";
  const range = low === high ? "" : ` (${number(low)} – ${number(high)})`;
  return `${number(median)}${unit}${range}`;
}

function number(value: number): string {
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
