/** Bounds for the results, and the comparison of the results with these bounds. */

import type { Facts } from "./facts.ts";
import type { Figures } from "../figures.ts";
import { boundedOrders, STILL } from "./disciplines.ts";
import { OTHERS } from "./hot_key.ts";
import { snapshotWorks } from "./snapshots.ts";
import { CLIENT_GO, OURS } from "./work.ts";

/** Bound, with one measured value for each runtime or one value for both runtimes. */
export interface Target {
  readonly claim: string;
  readonly bound: string;
  readonly measured: Readonly<Record<string, Measured>>;
}

export interface Measured {
  readonly text: string;
  readonly reached: boolean;
}

const RUNTIMES = ["deno", "bun"];

/** Returns all bounds with their measured values. */
export function targetsOf(
  figures: Figures,
  { memory, lateness, latency, size }: Facts,
): Target[] {
  const ours = (work: string, runtime: string) => figures.median({ work, contender: OURS, runtime });
  const other = (work: string, contender: string, runtime: string) => figures.median({ work, contender, runtime });
  /** Returns client-go's best time for a workload. */
  const clientGo = (work: string) =>
    Math.min(
      ...["1", "2"].map((procs) => figures.median({ work, contender: CLIENT_GO, runtime: procs })),
    );

  const targets: Target[] = [];
  const add = (
    claim: string,
    bound: string,
    measure: (runtime: string) => Measured | undefined,
  ) => {
    const measured: Record<string, Measured> = {};
    for (const runtime of RUNTIMES) {
      const figure = measure(runtime);
      if (figure !== undefined) measured[runtime] = figure;
    }
    targets.push({ claim, bound, measured });
  };
  const notBelow = (least: number, value: number): Measured | undefined =>
    Number.isNaN(value) ? undefined : { text: `${value.toFixed(2)} ×`, reached: value >= least };
  const atMost = (most: number, value: number, unit: string): Measured => ({
    text: `${value.toFixed(2)} ${unit}`,
    reached: value <= most,
  });

  const faster = (claim: string, work: string, least: number) =>
    add(
      claim,
      `${least} × client-go`,
      (runtime) => notBelow(least, clientGo(work) / ours(work, runtime)),
    );
  const fasterThan = (
    claim: string,
    work: string,
    contender: string,
    least: number,
  ) =>
    add(
      claim,
      least === 1 ? `ahead of ${contender}` : `${least} × ${contender}`,
      (runtime) => notBelow(least, other(work, contender, runtime) / ours(work, runtime)),
    );
  const within = (
    claim: string,
    work: string,
    contender: string,
    most: number,
  ) =>
    add(
      claim,
      `within ${most} × ${contender}`,
      (runtime) =>
        atMost(
          most,
          ours(work, runtime) / other(work, contender, runtime),
          "×",
        ),
    );

  faster("add → tryGet → done, 100,000 keys added, then all taken", "ready", 2);
  within("the same", "ready", "bare Map: set, delete", 1.2);
  faster("the same, one key at a time", "oneAtATime", 2);
  faster("adding a key that is ready already", "readyAgain", 2);
  for (const [procs, least] of [["2", 4], ["1", 1]] as const) {
    add(
      "10 workers wait in `get`, a producer adds 100,000 keys",
      least === 1 ? "ahead of client-go at GOMAXPROCS=1" : `${least} × client-go at GOMAXPROCS=${procs}`,
      (runtime) =>
        notBelow(
          least,
          other("waitingWorkers", CLIENT_GO, procs) /
            ours("waitingWorkers", runtime),
        ),
    );
  }
  faster(
    "`addAfter` of 100,000 keys over 50 deadlines, all fired and taken",
    "delayed",
    3,
  );
  within(
    "heap: push and pop of 100,000 random deadlines",
    "heap",
    "flatqueue",
    1.25,
  );
  fasterThan("the same", "heap", "tinyqueue", 1);
  fasterThan("the same", "heap", "heap-js", 1);
  faster("`when` of the exponential limiter", "exponential", 2);
  faster("`when` of the default controller limiter", "defaultController", 3);
  for (
    const [others, work, most] of [
      ["ready ones, with a discipline", "hotBesideReady", 1],
      ["delayed ones", "hotBesideDelayed", 1],
      ["failing ones, in a limiter", "hotBesideFailing", 1],
      ["processing ones", "hotBesideProcessing", 3],
    ] as const
  ) {
    add(
      `a cycle of one hot key beside ${OTHERS.toLocaleString("en")} ${others}`,
      `at most ${most} µs`,
      (runtime) => atMost(most, ours(work, runtime) / 1000, "µs"),
    );
  }
  const running = "`runWorkers`, concurrency 10, an async handler that does nothing";
  fasterThan(running, "workers", "p-queue", 4);
  fasterThan("the same", "workers", "fastq.promise", 4);
  fasterThan("the same", "workers", "async.queue", 1);
  fasterThan("the same with 201 priorities", "priorityWorkers", "p-queue", 10);
  for (const [order, { bound }] of Object.entries(boundedOrders)) {
    for (const contender of [order, order + STILL]) {
      const claim = contender === order
        ? `100,000 keys added, then all taken: ${order}`
        : `the same${STILL.replace(";", ",")}`;
      const ratio = (runtime: string) => other("disciplines", contender, runtime) / ours("disciplines", runtime);
      add(
        claim,
        `at most ${bound} × FIFO`,
        (runtime) => atMost(bound, ratio(runtime), "×"),
      );
    }
  }
  for (const [name, { title }] of Object.entries(snapshotWorks)) {
    add(
      title,
      "at most 1 ms",
      (runtime) => atMost(1, ours(name, runtime) / 1e6, "ms"),
    );
  }
  for (const kind of ["ready", "delayed"]) {
    add(
      `cost of a key among 1,000,000 against one of 1,000, ${kind}`,
      "at most 3 ×",
      (runtime) =>
        atMost(
          3,
          ours(`${kind} 1000000`, runtime) / ours(`${kind} 1000`, runtime),
          "×",
        ),
    );
  }
  add(
    "memory of a delayed key, among a million",
    "at most 150 bytes",
    (runtime) => atMost(150, memory[runtime]!.delayed.full, "bytes"),
  );
  add(
    "the same, after draining",
    "back to the start",
    (runtime) =>
      atMost(
        1,
        Math.max(
          memory[runtime]!.delayed.drained,
          memory[runtime]!.ready.drained,
        ),
        "bytes",
      ),
  );
  add(
    "lateness of 100,000 items due over 5 s, workers busy, 99th percentile",
    "at most 5 ms",
    (runtime) => atMost(5, lateness[runtime]!.p99, "ms"),
  );
  for (const work of Object.keys(latency["deno"]!)) {
    const claim = `a request to a process whose CPU is wanted by ${work}, 99th percentile`;
    add(
      claim,
      "at most 50 ms",
      (runtime) => atMost(50, latency[runtime]![work]!.p99, "ms"),
    );
    const isBusy = (busy: number) => ({
      text: `${(100 * busy).toFixed(1)} %`,
      reached: busy >= 0.95,
    });
    add(
      "meanwhile, of the time for the work",
      "at least 95 %",
      (runtime) => isBusy(latency[runtime]![work]!.busy),
    );
  }
  for (
    const [claim, contender] of [
      ["FIFO cycle with metrics, against the cycle without", "with metrics"],
      [
        "the same, with a clock that costs nothing",
        "with metrics, a clock that costs nothing",
      ],
    ] as const
  ) {
    add(
      claim,
      "at most 2 ×",
      (runtime) =>
        atMost(
          2,
          other("metrics", contender, runtime) / ours("metrics", runtime),
          "×",
        ),
    );
  }
  const kilobytes = (most: number, bytes: number) => atMost(most, bytes / 1000, "kB");
  targets.push({
    claim: "`mod.ts` bundled, minified and gzipped",
    bound: "at most 10 kB",
    measured: { both: kilobytes(10, size.everything) },
  }, {
    claim: "`createWorkQueue` alone, likewise",
    bound: "at most 4 kB",
    measured: { both: kilobytes(4, size.workQueue) },
  }, {
    claim: "what a typical controller imports: a rate-limiting queue, the default limiter, workers",
    bound: "at most 11 kB",
    measured: { both: kilobytes(11, size.controller) },
  });
  return targets;
}
