import type { Connection, Script } from "./connection/connection.ts";
import { createScript } from "./connection/script.ts";
import { type Division, divisionIn, indexOf, indexOfGroup, namesOf, textOf, UNDIVIDED } from "./division.ts";
import { isOtherDivision } from "./engine.ts";
import { readPartitions, setMoving } from "./scripts/open_partitions.ts";
import { SERVER_TIME } from "./scripts/prelude.ts";
import {
  dropOrder,
  endExport,
  exportSome,
  importSome,
  lock,
  LOCKED,
  orderSome,
  readSettings,
  remove,
  type Settings,
  takeOver,
  unlock,
} from "./scripts/repartition.ts";
import { setOrder } from "./scripts/set_order.ts";
import { setRetryBudget } from "./scripts/set_retry_budget.ts";

/** Move of a queue's keys to other partitions. Each stage may be repeated. */
interface Move {
  /** Divisions, in the form in which the server has them. */
  readonly from: string;
  readonly to: string;
  /**
   * - `"lock"`: the partitions are being locked, so that no process uses them;
   * - `"export"`: the keys are being moved to new structures;
   * - `"takeOver"`: the new structures are replacing the old ones.
   */
  readonly stage: "lock" | "export" | "takeOver";
  /** Settings of the new partitions, from the last stage on. */
  readonly settings?: readonly Settings[];
}

/** Parts of a declared script that a call uses. */
interface Declared<A extends unknown[], R> {
  lua(time: string, isPartition: boolean): string;
  write(...args: A): string[];
  read(sent: unknown): R;
}

/** Scripts that were created, by what they were created from. */
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
   * Divides the queue into `count` partitions. If an earlier move to as many partitions has not ended, goes on with it.
   *
   * @throws {Error} (as a rejection) If the queue is not at rest, or is being divided into another number of
   * partitions.
   */
  async run(count: number): Promise<void> {
    const home = await this.#atHome(readPartitions, {});
    if (!home.exists) return; // the first use of the queue will divide it
    let move = home.moving === undefined ? undefined : JSON.parse(home.moving) as Move;
    if (move?.stage === "lock") {
      await this.#unlock(move);
      move = undefined;
    }
    if (move === undefined) {
      const from = home.division === undefined ? UNDIVIDED : divisionIn(home.division);
      const to = count === 1 ? UNDIVIDED : { count, separator: this.#separator ?? from.separator };
      if (textOf(from) === textOf(to)) return;
      move = await this.#enter({ from: textOf(from), to: textOf(to), stage: "lock" });
      await this.#lock(move);
      move = await this.#enter({ ...move, stage: "export" });
    }
    const { count: present } = divisionIn(move.to);
    if (present !== count) throw this.#refusal(count, `a move to ${present} partitions has begun and must end first`);
    if (move.stage === "export") {
      const settings = await this.#export(move);
      move = await this.#enter({ ...move, stage: "takeOver", settings });
    }
    await this.#takeOver(move);
  }

  async #enter(move: Move): Promise<Move> {
    await this.#atHome(setMoving, { moving: JSON.stringify(move), division: undefined });
    return move;
  }

  async #lock(move: Move): Promise<void> {
    const from = divisionIn(move.from);
    for (const name of namesOf(this.#queue, from)) {
      const { refusal } = await this.#at(name, from.count === 1 ? undefined : move.from, lock, {});
      if (refusal === undefined) continue;
      await this.#unlock(move);
      throw this.#refusal(divisionIn(move.to).count, refusal);
    }
  }

  async #unlock({ from }: Move): Promise<void> {
    const division = divisionIn(from);
    for (const name of namesOf(this.#queue, division)) {
      await unlessOther(this.#at(name, LOCKED, unlock, { division: division.count === 1 ? undefined : from }));
    }
    await this.#atHome(setMoving, { moving: undefined, division: undefined });
  }

  /** Moves all keys to new structures. Returns the settings of the new partitions. */
  async #export(move: Move): Promise<Settings[]> {
    const to = divisionIn(move.to);
    const targets = namesOf(this.#queue, to);
    const add = (target: string, lastMs: number, rows: readonly { row: string }[]) => {
      return this.#atKey(`workqueue:{${target}}:new:meta`, move.to, importSome, { lastMs }, rows);
    };
    await Promise.all(targets.map((target) => add(target, 0, [])));
    const found: Settings[] = [];
    for (const name of namesOf(this.#queue, divisionIn(move.from))) {
      for (;;) {
        const { batch, lastMs, rows } = await this.#at(name, LOCKED, exportSome, {});
        if (rows.length === 0) break;
        const parts = Map.groupBy(rows, (row) => indexOf(to, (JSON.parse(row) as [string])[0]));
        await Promise.all(Array.from(parts, ([i, some]) => add(targets[i]!, lastMs, some.map((row) => ({ row })))));
        await this.#at(name, LOCKED, endExport, { batch });
      }
      found.push(JSON.parse(await this.#at(name, LOCKED, readSettings, {})));
      while (await this.#at(name, LOCKED, dropOrder, {}) > 0);
    }
    return divide(found, to);
  }

  /** Replaces the old structures with the new ones. */
  async #takeOver({ from, to, settings }: Move): Promise<void> {
    const [before, after] = [divisionIn(from), divisionIn(to)];
    const names = namesOf(this.#queue, after);
    for (const name of namesOf(this.#queue, before)) {
      if (names.includes(name) || before.count === 1) continue;
      await this.#at(name, LOCKED, remove, { division: undefined });
    }
    const isPartition = after.count > 1;
    for (const [i, name] of names.entries()) {
      const { plan, weights, budget, ...own } = settings![i]!;
      const args = { settings: JSON.stringify(own), isPartition };
      await unlessOther(this.#at(name, isPartition ? LOCKED : from, takeOver, args));
      const division = isPartition ? to : undefined;
      if (budget !== undefined) {
        await this.#at(name, division, setRetryBudget, { ratio: budget[0], minRate: budget[1] });
      }
      if (plan === undefined) continue;
      const rows = Object.entries(weights).map(([group, weight]) => ({ group, weight: Number(weight) }));
      await this.#at(name, division, setOrder, { plan }, rows);
      while (await this.#at(name, division, orderSome, {}) > 0);
    }
    if (before.count === 1) await this.#at(this.#queue, LOCKED, remove, { division: to });
    else if (isPartition) await this.#atHome(setMoving, { moving: undefined, division: to });
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

  #refusal(count: number, reason: string): Error {
    return new Error(
      `Cannot divide queue ${JSON.stringify(this.#queue)} into ${count} partitions: ${reason}`,
    );
  }
}

/** Waits for a call that may have run before, and then is refused because the partition has another division. */
async function unlessOther(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isOtherDivision(error)) throw error;
  }
}

/** Returns the settings of new partitions, given those of the old ones. */
function divide(found: readonly Settings[], to: Division): Settings[] {
  const [first] = found as [Settings];
  const pauses = `${Math.max(...found.map(({ pauses }) => Number(pauses)))}`;
  const kept = found.reduce((sum, { keep }) => sum + Number(keep), 0); // NaN if there is no limit
  const keep = Number.isNaN(kept) ? {} : { keep: `${Math.ceil(kept / to.count)}` };
  const minRate = found.reduce((sum, { budget }) => sum + (budget?.[1] ?? 0), 0) / to.count;
  const groups = found.flatMap(({ pausedGroups }) => Object.entries(pausedGroups));
  return Array.from({ length: to.count }, (_, i) => ({
    ...first,
    ...keep,
    ...first.budget && { budget: [first.budget[0], minRate] as const },
    pauses,
    pausedGroups: Object.fromEntries(groups.filter(([group]) => indexOfGroup(to, group) === i)),
    counts: i > 0 ? {} : sumOf(found.map(({ counts }) => counts)),
  }));
}

function sumOf(all: readonly Settings["counts"][]): Settings["counts"] {
  const names = Object.keys(all[0]!);
  return Object.fromEntries(names.map((name) => [name, `${all.reduce((sum, each) => sum + Number(each[name]), 0)}`]));
}
