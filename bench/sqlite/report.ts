/** Report on the results, as a Markdown page. */

import { FEW_ROUNDS } from "../rows/row.ts";
import { boundsSection, figuresSection, type Result } from "../rows/tables.ts";
import { OURS } from "./names.ts";

/** Facts about one run of the benchmark. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly packages: readonly string[];
  readonly rounds: number;
  readonly minutes: number;
  /** Average numbers of processes that want a CPU. */
  readonly load: { readonly before: number; readonly during: number };
  /** Milliseconds that a sync takes. */
  readonly sync: { readonly median: number; readonly p99: number };
  /** Sentences about what was not measured. */
  readonly leftOut: readonly string[];
}

/** Returns the whole page. */
export function report(results: readonly Result[], facts: Facts): string {
  const { machine, versions, packages, rounds, minutes, load, sync, leftOut } = facts;
  const lines = [
    "# Benchmarks of the queue in a file",
    "",
    "Written by `npx -y deno task bench:sqlite`, which compares the queue of `@workqueue/sqlite` with the queue on Redis",
    "and with other queues that store items in a SQLite file. In a round, each contender has a process of its own. The",
    "contenders of a row are measured right after each other, three times, each time in another order. The median of the",
    "three is the figure of the round.",
    "",
    `- ${machine}`,
    `- Processes that want a CPU, on average: ${load.before.toFixed(1)} before the run, ${
      load.during.toFixed(1)
    } in the run`,
    `- One sync of a page of 4 KiB: ${sync.median.toFixed(2)} ms (99th percentile: ${sync.p99.toFixed(2)} ms)`,
    ...versions.map((version) => `- ${version}`),
    `- ${packages.join(", ")}`,
    `- Rounds: ${rounds}; at most ${FEW_ROUNDS} for rows that compare nothing. Minutes: ${minutes.toFixed(0)}`,
    ...leftOut.map((sentence) => `- ${sentence}`),
    "",
    ...boundsSection(results, OURS, rounds, [
      "“15 × …” means that 15 times as many items get done in the same time. A ratio is computed from figures of the same",
      "row and the same round. The table shows the median over the rounds and, in parentheses, the first and the third",
      "quartile.",
    ]),
    "## Contenders",
    "",
    "- `@workqueue/sqlite`: adds as each row says. Takes and finishes are never synced, as in the product: after a power",
    "  cut, work that was finished right before may be repeated. With `thread: true`, a thread writes to the file. That is",
    "  not measured on Node, where the benchmark runs a bundle, in which the package has no threads.",
    "- `@workqueue/redis`: one server without persistence, on the same machine, reached by the loopback interface.",
    "- `bunqueue`: in the worker's process, with `durable: true`, without which an add resolves before the job is in the",
    "  file. bunqueue keeps jobs in memory too, so only one process can use the file. It has no option for",
    "  `synchronous=FULL`, so the benchmark changes the setting on the way to SQLite. bunqueue runs only on Bun.",
    "- `liteque`: with `better-sqlite3`, on Node. Versions of `better-sqlite3` since 11.10 refuse the async functions that",
    "  liteque passes to `transaction`. The benchmark lets these pass, and commits as earlier versions did.",
    "- `plainjob`: with `bun:sqlite` on Bun and `better-sqlite3` on Node, and one worker for each job at a time.",
    "",
    "Items are keys of 26 bytes, and handlers return at once. The contenders have different features. This queue keeps one",
    "entry for each key however often it is added, counts failures by key, and wakes idle processes. plainjob and liteque",
    "keep every job that is added, and look for new jobs once a second. bunqueue serves one process.",
    "",
    "## Figures",
    "",
    ...results.flatMap(figuresSection),
  ];
  return lines.join("\n").trimEnd() + "\n";
}
