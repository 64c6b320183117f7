import { type OrderPlan, unknownKind } from "@workqueue/engine";
import type { Connection, Script } from "./connection/connection.ts";
import { createScript } from "./connection/script.ts";
import {
  byPartition,
  type Division,
  divisionIn,
  indexOf,
  indexOfGroup,
  namesOf,
  textOf,
  UNDIVIDED,
} from "./division.ts";
import { isOtherDivision } from "./engine.ts";
import { PRODUCT } from "./product.ts";
import { SERVER_TIME } from "./scripts/declare.ts";
import { define, NOT_DEFINED } from "./scripts/define.ts";
import { readPartitions, setMoving } from "./scripts/open_partitions.ts";
import {
  beginImport,
  claim,
  dropOrder,
  endExport,
  exportSome,
  importSome,
  lock,
  orderSome,
  readSettings,
  remove,
  type Settings,
  takeOver,
  unlock,
} from "./scripts/repartition.ts";

/** Move of a queue's keys to other partitions. Each stage may be repeated, also by several processes at once. */
interface Move {
  /** Number of moves of the queue that have begun, including this one. */
  readonly number: number;
  /** Distinguishes moves that processes begin at once. */
  readonly id: string;
  /** Divisions, in the form in which the server has them. */
  readonly from: string;
  readonly to: string;
  /**
   * - `"lock"`: the partitions are being locked, so that no process uses them;
   * - `"export"`: the keys are being moved to new structures;
   * - `"takeOver"`: the new structures are replacing the old ones.
   */
  readonly stage: "lock" | "export" | "takeOver";
  /** Settings of all new partitions together, from the last stage on. */
  readonly settings?: Settings;
}

/** Parts of a declared script that a call uses. */
interface Declared<A extends unknown[], R> {
  lua(time: string, isPartition: boolean): string;
  write(...args: A): string[];
  read(sent: unknown): R;
}

/** Created scripts, by the object from which each was created. */
const scripts = new Map<object, Script>();
const plainScripts = new Map<object, Script>();

/** Moves the keys of a queue to other partitions. */
export class Repartition {
  readonly #connection: Connection;
  readonly #queue: string;
  /** Separator of the groups of this process's discipline, if it has groups. */
  readonly #separator: string | null;

  constructor(connection: Connection, queue: string, separator: string | null) {
    this.#connection = connection;
    this.#queue = queue;
    this.#separator = separator;
  }

  /**
   * Divides the queue into `count` partitions. Continues an earlier move to this number of partitions if it has not
   * ended.
   *
   * @throws {Error} (as a rejection) If the queue is not at rest, is being divided into another number of partitions,
   * or if another process continues this move.
   */
  async run(count: number): Promise<void> {
    try {
      const move = await this.#begin(count);
      if (move === undefined) return;
      const { count: present } = divisionIn(move.to);
      if (present !== count) throw this.#refusal(count, `a move to ${present} partitions has begun and must end first`);
      const exported = move.stage === "export" ? await this.#export(move) : move;
      await this.#takeOver(exported);
    } catch (error) {
      if (!isOtherDivision(error)) throw error;
      throw this.#refusal(count, SUPERSEDED, error);
    }
  }

  /** Returns the move to begin or continue. Returns `undefined` if there is nothing to do. */
  async #begin(count: number): Promise<Move | undefined> {
    const home = await this.#atHome(readPartitions, {});
    if (!home.exists) return undefined; // the first use of the queue will divide it
    const before = home.moving === undefined ? undefined : JSON.parse(home.moving) as Move;
    if (before !== undefined && before.stage !== "lock") return before;
    const stored = divisionIn(home.division ?? textOf(UNDIVIDED));
    const from = stored.count === 0 ? UNDIVIDED : stored; // locked by a move that was not continued
    const separator = this.#separator ?? from.separator ?? separatorOf(home.plan);
    const to = count === 1 ? UNDIVIDED : { count, separator };
    const texts = { from: textOf(from), to: textOf(to) };
    if (texts.from === texts.to) {
      const last = before ?? { number: home.moves, id: "", ...texts, stage: "lock" };
      await this.#unlock(last);
      return undefined;
    }
    const move = { number: home.moves + 1, id: crypto.randomUUID(), ...texts, stage: "lock" } as const;
    await this.#enter(before, move);
    try {
      await this.#lock(move);
      return await this.#enter(move, { ...move, stage: "export" }, to.count === 1 ? lockOf(move) : undefined);
    } catch (error) {
      await this.#unlock(move).catch(() => {}); // the next move unlocks it
      throw error;
    }
  }

  /** Notes the next stage of a move, and the division from then on. */
  async #enter(before: Move | undefined, move: Move, division?: string): Promise<Move> {
    const isNoted = await this.#atHome(setMoving, {
      before: before && JSON.stringify(before),
      moving: JSON.stringify(move),
      number: move.number,
      division,
    });
    if (!isNoted) throw this.#refusal(divisionIn(move.to).count, SUPERSEDED);
    return move;
  }

  async #end(move: Move, division?: string): Promise<void> {
    const before = JSON.stringify(move);
    await this.#atHome(setMoving, { before, moving: undefined, number: move.number, division });
  }

  async #lock(move: Move): Promise<void> {
    const [from, to] = [divisionIn(move.from), divisionIn(move.to)];
    const locked = lockOf(move);
    const refuse = (reason: string) => this.#refusal(to.count, reason);
    const names = namesOf(this.#queue, from);
    for (const name of names) {
      await this.#unlockOne(name, move); // of an earlier move that was not finished
      const { refusal } = await this.#at(name, from.count === 1 ? undefined : move.from, lock, { locked });
      if (refusal !== undefined) throw refuse(refusal);
    }
    for (const name of namesOf(this.#queue, to)) {
      if (names.includes(name) || to.count === 1) continue;
      const found = await this.#at(name, undefined, claim, { number: move.number, locked });
      if (found === "moved") throw refuse(SUPERSEDED);
      if (found === "queue") throw refuse(`there is a queue with the name ${JSON.stringify(name)}`);
    }
  }

  async #unlock(move: Move): Promise<void> {
    await this.#end(move);
    for (const name of namesOf(this.#queue, divisionIn(move.from))) await this.#unlockOne(name, move);
  }

  /** Ends the lock of a move, or of an earlier one, on an old partition. */
  async #unlockOne(name: string, { number, from }: Move): Promise<void> {
    await this.#at(name, undefined, unlock, { number, division: divisionIn(from).count === 1 ? undefined : from });
  }

  /** Moves all keys to new structures. */
  async #export(move: Move): Promise<Move> {
    const to = divisionIn(move.to);
    const targets = namesOf(this.#queue, to);
    const locked = lockOf(move);
    const add = (target: string, lastMs: number, rows: readonly { row: string }[]) => {
      return this.#atKey(`workqueue:{${target}}:new:meta`, locked, importSome, { lastMs }, rows);
    };
    await Promise.all(targets.map((target) => this.#at(target, locked, beginImport, { locked })));
    const found: Settings[] = [];
    for (const name of namesOf(this.#queue, divisionIn(move.from))) {
      for (;;) {
        const { batch, lastMs, rows } = await this.#at(name, locked, exportSome, {});
        if (rows.length === 0) break;
        const parts = byPartition(rows, (row) => indexOf(to, (JSON.parse(row) as [string])[0]));
        await Promise.all(Array.from(parts, ([i, some]) => add(targets[i]!, lastMs, some.map((row) => ({ row })))));
        await this.#at(name, locked, endExport, { batch });
      }
      found.push(JSON.parse(await this.#at(name, locked, readSettings, {})));
    }
    return await this.#enter(move, { ...move, stage: "takeOver", settings: putTogether(found) });
  }

  /** Replaces the old structures with the new ones. */
  async #takeOver(move: Move): Promise<void> {
    const [before, after] = [divisionIn(move.from), divisionIn(move.to)];
    const [locked, done] = [lockOf(move), lockOf(move, true)];
    const names = namesOf(this.#queue, after);
    for (const name of namesOf(this.#queue, before)) {
      await unlessOther(this.#dropOrders(name, locked));
      if (names.includes(name) || before.count === 1) continue;
      await unlessOther(this.#at(name, locked, remove, { division: done }));
    }
    for (const [i, name] of names.entries()) {
      const settings = JSON.stringify(partOf(move.settings!, after, i));
      await unlessOther(this.#at(name, locked, takeOver, { settings, locked: done }));
      await unlessOther(this.#putInForce(name, done, move.settings!, after.count));
    }
    for (const name of after.count === 1 ? [] : names) {
      await this.#at(name, undefined, unlock, { number: move.number, division: move.to });
    }
    if (before.count === 1) await unlessOther(this.#at(this.#queue, locked, remove, { division: move.to }));
    else await this.#end(move, move.to);
  }

  async #dropOrders(name: string, division: string): Promise<void> {
    while (await this.#at(name, division, dropOrder, {}) > 0);
  }

  /** Puts the retry budget and the discipline of a new partition in force. */
  async #putInForce(name: string, division: string, { plan, weights, budget }: Settings, count: number): Promise<void> {
    const [ratio, minRate] = budget ?? [];
    const rows = Object.entries(weights).map(([group, weight]) => ({ group, weight: Number(weight) }));
    const definition = { ...NOT_DEFINED, plan, ratio, minRate: minRate && minRate / count };
    await this.#at(name, division, define, definition, rows);
    while (await this.#at(name, division, orderSome, {}) > 0);
  }

  #atHome<A extends unknown[], R>(script: Declared<A, R>, ...args: A): Promise<R> {
    return this.#at(this.#queue, undefined, script, ...args);
  }

  /** Makes a call for a partition. `division` is what the partition's `meta` has, if it has a division. */
  #at<A extends unknown[], R>(
    name: string,
    division: string | undefined,
    script: Declared<A, R>,
    ...args: A
  ): Promise<R> {
    return this.#atKey(`workqueue:{${name}}:meta`, division, script, ...args);
  }

  async #atKey<A extends unknown[], R>(
    key: string,
    division: string | undefined,
    declared: Declared<A, R>,
    ...args: A
  ): Promise<R> {
    const isPartition = division !== undefined;
    const known = isPartition ? scripts : plainScripts;
    const script = known.get(declared) ?? createScript(declared.lua(SERVER_TIME, isPartition));
    known.set(declared, script);
    const sent = [...isPartition ? [division] : [], ...declared.write(...args)];
    return declared.read(await this.#connection.run(script, key, sent, { retry: "always" }));
  }

  #refusal(count: number, reason: string, cause?: unknown): Error {
    return new Error(`Cannot divide queue ${JSON.stringify(this.#queue)} into ${count} partitions: ${reason}`, {
      cause,
    });
  }
}

const SUPERSEDED = "another process moves its items, or has moved them";

/** Returns the division of a partition that a move has locked, before or after the partition has its new structures. */
function lockOf({ number }: Move, isDone = false): string {
  return JSON.stringify(isDone ? [0, number, 1] : [0, number]);
}

/** Returns the text that ends groups in the plan of a discipline; `null` if it has no groups. */
function separatorOf(plan: string | undefined): string | null {
  if (plan === undefined) return null;
  const order = JSON.parse(plan) as OrderPlan;
  switch (order[0]) {
    case "fair":
      return order[1];
    case "fifo":
    case "aging":
    case "strict":
      return null;
    default:
      throw unknownKind(PRODUCT, "discipline", order[0]);
  }
}

/**
 * Waits for a call that may be a repetition. A repeated call is refused, because the partition has another division by
 * then: that is no error.
 */
async function unlessOther(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isOtherDivision(error)) throw error;
  }
}

/** Puts the settings of all old partitions together. */
function putTogether(found: readonly Settings[]): Settings {
  const [first] = found as [Settings];
  const kept = found.reduce((sum, { keep }) => sum + Number(keep), 0); // NaN if there is no limit
  const minRate = found.reduce((sum, { budget }) => sum + (budget?.[1] ?? 0), 0);
  return {
    ...first,
    ...Number.isNaN(kept) ? {} : { keep: `${kept}` },
    ...first.budget && { budget: [first.budget[0], minRate] as const },
    pauses: `${Math.max(...found.map(({ pauses }) => Number(pauses)))}`,
    pausedGroups: Object.fromEntries(found.flatMap(({ pausedGroups }) => Object.entries(pausedGroups))),
    counts: sumOf(found.map(({ counts }) => counts)),
  };
}

/** Returns the settings of a new partition. The first one has all counts. */
function partOf({ keep, pausedGroups, counts, ...rest }: Settings, to: Division, partition: number): Settings {
  const groups = Object.entries(pausedGroups).filter(([group]) => indexOfGroup(to, group) === partition);
  return {
    ...rest,
    ...keep !== undefined && { keep: `${Math.ceil(Number(keep) / to.count)}` },
    pausedGroups: Object.fromEntries(groups),
    counts: partition > 0 ? {} : counts,
  };
}

function sumOf(all: readonly Settings["counts"][]): Settings["counts"] {
  const names = Object.keys(all[0]!);
  return Object.fromEntries(names.map((name) => [name, `${all.reduce((sum, each) => sum + Number(each[name]), 0)}`]));
}
