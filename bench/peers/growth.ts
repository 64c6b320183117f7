/** Cost of a key among few and among many keys. */

import { createWorkQueue } from "@workqueue/core";
import { bareMap } from "../bare_map.ts";
import { distinctKeys } from "../keys.ts";
import { addAllThenTakeAll, delayThenTakeAll } from "../passes.ts";
import { CLIENT_GO, type Contender, defineWork, type Work } from "./row.ts";

/** Numbers of keys. */
export const SIZES: readonly number[] = [1000, 30_000, 1_000_000];

/** Highest delay, in milliseconds. */
const MAX_DELAY = 50;

const ready: Contender = (items) => {
  const keys = distinctKeys(items);
  return () => addAllThenTakeAll(createWorkQueue(), keys);
};

const delayed: Contender = (items) => {
  const keys = distinctKeys(items);
  const delays = Float64Array.from(keys, () => Math.ceil(MAX_DELAY * Math.random()));
  return () => delayThenTakeAll(keys, (i) => delays[i]!);
};

/** Returns the name of a contender with a number of keys, for example `bare Map, 1,000 keys`. */
export function among(size: number, contender?: string): string {
  const keys = `${size.toLocaleString("en")} keys`;
  return contender === undefined ? keys : `${contender}, ${keys}`;
}

const forEachSize = <Value>(contender: string | undefined, value: (size: number) => Value) =>
  Object.fromEntries(SIZES.map((size) => [among(size, contender), value(size)]));

/** Name of the bare map in the tables. */
export const BARE_MAP = "bare Map";

const bounds = [{ contender: among(1_000_000), than: among(1000), atMost: 3 }];

/** Workloads, by short name. */
export const growthWorks: Readonly<Record<string, Work>> = {
  growthReady: defineWork({
    title: "growth: keys ready, then taken",
    contenders: { ...forEachSize(undefined, () => ready), ...forEachSize(BARE_MAP, () => bareMap) },
    itemsOf: { ...forEachSize(undefined, (size) => size), ...forEachSize(BARE_MAP, (size) => size) },
    go: forEachSize(CLIENT_GO, (size) => `Ready/${size}`),
    bounds,
  }),
  growthDelayed: defineWork({
    title: "growth: keys delayed, then taken",
    contenders: forEachSize(undefined, () => delayed),
    itemsOf: forEachSize(undefined, (size) => size),
    bounds,
  }),
};
