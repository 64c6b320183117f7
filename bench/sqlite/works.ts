/** Workloads on a file, with their contenders and bounds. */

import { ours as redis } from "../redis/ours.ts";
import type { Contender, QueueOptions } from "../remote/contender.ts";
import { add, measureWork, type Work, work } from "../remote/works.ts";
import { type Bound, type Row, type RuntimeName, RUNTIMES } from "../rows/row.ts";
import { bunqueue } from "./bunqueue.ts";
import { liteque } from "./liteque.ts";
import { BUNQUEUE, IN_THREAD, LITEQUE, ONE_COMMIT_EACH, OURS, PLAINJOB, REDIS } from "./names.ts";
import { inThread, oneCommitEach, ours } from "./ours.ts";
import { plainjob } from "./plainjob.ts";
import { SYNC_DELAY } from "./slow_sync.ts";
import { FAST_SYNC } from "./sync.ts";

export const contenders: Readonly<Record<string, Contender>> = {
  [OURS]: ours,
  [ONE_COMMIT_EACH]: oneCommitEach,
  [IN_THREAD]: inThread,
  [REDIS]: redis,
  [BUNQUEUE]: bunqueue,
  [LITEQUE]: liteque,
  [PLAINJOB]: plainjob,
};

/**
 * Runtimes on which contenders are measured, if not on all. Peers are measured where their guides say how to use them.
 * On Node, the benchmark runs a bundle, in which there are no threads.
 */
const ON: Readonly<Record<string, readonly RuntimeName[]>> = {
  [IN_THREAD]: ["deno", "bun"],
  [BUNQUEUE]: ["bun"],
  [LITEQUE]: ["node"],
  [PLAINJOB]: ["bun", "node"],
};

/** Returns the runtimes on which a contender is measured. */
export function runtimesOf(contender: string): readonly RuntimeName[] {
  return ON[contender] ?? RUNTIMES;
}

/** Workload on a file. */
export interface FileWork extends Work, Row {
  readonly contenders: readonly string[];
  /** Numbers of items of contenders that are slower than the others. */
  readonly itemsOf: Readonly<Record<string, number>>;
  readonly durability: NonNullable<QueueOptions["durability"]>;
  /** Whether each sync is delayed: see `slow_sync.ts`. */
  readonly isSlow: boolean;
}

const PEERS = [BUNQUEUE, LITEQUE, PLAINJOB];

/** Bounds for 100 adds at once: ratios to one commit for each add, and microseconds per item. */
const [GROUP_COMMIT, SLOW_GROUP_COMMIT, FAST_ADD] = [15, 50, 20];

/** Parts of a workload. By default, it has the same number of items for all contenders, and a disk as it is. */
type WorkParts = Omit<FileWork, "itemsOf" | "isSlow" | "unit"> & Partial<FileWork>;

function defineWork(parts: WorkParts): FileWork {
  return { itemsOf: {}, isSlow: false, unit: "µs an item", ...parts };
}

function adds(parts: Omit<WorkParts, "time" | "fills" | "items">): FileWork {
  const slower = [ONE_COMMIT_EACH, ...PEERS].map((contender) => [contender, 1000]);
  const items = parts.concurrency === 1 ? 1000 : 8000;
  return defineWork({ time: add, fills: true, items, itemsOf: Object.fromEntries(slower), ...parts });
}

function takes(concurrency: number, items: number, more: readonly string[], bounds: readonly Bound[]): FileWork {
  return defineWork({
    time: work,
    fills: false,
    title: `take + finish, workers, ${concurrency} at once`,
    durability: "normal",
    contenders: [OURS, REDIS, ...more],
    itemsOf: { [BUNQUEUE]: 1000, [LITEQUE]: 1000 },
    ...{ concurrency, items, bounds },
  });
}

function aheadOf(contender: string): Bound {
  return { than: contender, atLeast: 1, on: runtimesOf(contender) };
}

/**
 * Returns the workloads by short name.
 *
 * @param syncTime The time that a sync takes, in milliseconds. Only fast disks have a bound for the adds per second.
 */
export function worksOn(syncTime: number): Readonly<Record<string, FileWork>> {
  const aheadOfPeers = PEERS.map(aheadOf);
  return {
    add1: adds({
      title: "add, 1 at once, each on the disk",
      note: "`synchronous=FULL`: each add is a commit that ends with a sync.",
      concurrency: 1,
      durability: "full",
      contenders: [OURS, IN_THREAD, ...PEERS],
      bounds: aheadOfPeers,
    }),
    add100: adds({
      title: "add, 100 at once, each on the disk",
      note:
        `\`synchronous=FULL\`. This queue puts what is added at the same time into one commit. ${FAST_ADD} µs an item ` +
        `are ${(1e6 / FAST_ADD).toLocaleString("en")} items a second; this bound holds where a sync takes less than ` +
        `${FAST_SYNC} ms.`,
      concurrency: 100,
      durability: "full",
      contenders: [OURS, ONE_COMMIT_EACH, IN_THREAD, ...PEERS],
      bounds: [
        { than: ONE_COMMIT_EACH, atLeast: GROUP_COMMIT },
        ...syncTime < FAST_SYNC ? [{ atMost: FAST_ADD }] : [],
        ...aheadOfPeers,
      ],
    }),
    slow100: adds({
      title: `add, 100 at once, each on a disk whose sync takes ${SYNC_DELAY} ms longer`,
      note: "A library that is loaded with `LD_PRELOAD` waits before each `fsync` and `fdatasync`.",
      isSlow: true,
      concurrency: 100,
      durability: "full",
      contenders: [OURS, ONE_COMMIT_EACH],
      itemsOf: { [OURS]: 4000, [ONE_COMMIT_EACH]: 100 },
      bounds: [{ than: ONE_COMMIT_EACH, atLeast: SLOW_GROUP_COMMIT }],
    }),
    normal1: adds({
      title: "add, 1 at once, without a sync",
      note: "`synchronous=NORMAL`: a power cut may lose the adds of the last seconds. A killed process loses none.",
      concurrency: 1,
      durability: "normal",
      contenders: [OURS, ...PEERS],
      bounds: aheadOfPeers,
    }),
    normal100: adds({
      title: "add, 100 at once, without a sync",
      note: "`synchronous=NORMAL`.",
      concurrency: 100,
      durability: "normal",
      contenders: [OURS, ...PEERS],
      bounds: aheadOfPeers,
    }),
    work1: takes(1, 4000, [IN_THREAD, ...PEERS], aheadOfPeers),
    work10: takes(10, 8000, [IN_THREAD, ...PEERS], [aheadOf(REDIS), ...aheadOfPeers]),
    work50: takes(50, 8000, [IN_THREAD], []),
  };
}

/** Runs a workload with a contender. Returns the microseconds per item. */
export async function measure(
  { contender, work, items, ...options }: QueueOptions & { contender: string; work: string; items: number },
): Promise<number> {
  return await measureWork(contenders[contender]!, { ...worksOn(0)[work]!, items }, options);
}
