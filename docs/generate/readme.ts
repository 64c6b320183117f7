import { readFileSync } from "node:fs";
import { CONTROLLER, sizeOf } from "./sizes.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Comments around the table of figures. */
const [BEGIN, END] = ["<!-- figures: begin -->", "<!-- figures: end -->"];

/** Rows about speed: the text in the README, and the work and the rival in `bench/RESULTS.md`. */
const SPEED: readonly [text: string, work: string, rival: string][] = [
  [
    "add, take and finish 100,000 keys",
    "add → tryGet → done: all keys added, then all taken",
    "client-go",
  ],
  ["ten workers waiting in `get`", "10 workers wait in get while a producer adds", "client-go"],
  ["`addAfter`, fired and taken", "addAfter over 50 deadlines, all fired and taken", "client-go"],
  ["`runWorkers`, ten at once", "`runWorkers`, concurrency 10, an async handler that does nothing", "p-queue"],
];

/** Returns the README, with the figures of the benchmarks and of the sizes of bundles. */
export async function readme(): Promise<string> {
  const page = read("README.md");
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const speed = SPEED.map(([text, work, rival]) => {
    const [deno, bun] = ratios(work, rival);
    return [text, `${deno} × ${rival} on Deno, ${bun} × on Bun`];
  });
  const rows = [
    ...speed,
    ["size of `createWorkQueue`", kB(await sizeOf("createWorkQueue"))],
    ["size of a controller", kB(await sizeOf(...CONTROLLER, "createDefaultControllerLimiter"))],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  const table = [
    line(["work on one machine with 2 cores", "speed"]),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
  ];
  return `${page.slice(0, begin)}\n\n${table.join("\n")}\n\n${page.slice(end)}`;
}

/** Returns the first two ratios of a row: on Deno and on Bun. */
function ratios(work: string, rival: string): string[] {
  const row = read("bench/RESULTS.md").split("\n").find((line) =>
    line.startsWith(`| ${work} |`) && line.split("|")[3]!.includes(rival)
  );
  const found = row?.split("|").slice(4, 6).map((cell) => /([\d.]+) ×/.exec(cell)?.[1]);
  if (found?.length !== 2 || found.includes(undefined)) throw new Error(`bench/RESULTS.md has no row "${work}"`);
  return found.map((ratio) => Number(ratio).toFixed(1));
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB, minified and gzipped`;
}
