import type { Outage } from "../load/kinds.ts";
import type { OpenItem } from "./ledger.ts";

/** Numbers of attempts. */
export interface Attempts {
  /** Number of attempts, including retries. */
  attempts: number;
  /** Number of attempts after a failure. */
  retries: number;
}

/** An outage, and the time until its backlog is gone. */
export interface OutageReport {
  /** Beginning, in milliseconds from the start. */
  readonly from: number;
  /** End, in milliseconds from the start. */
  readonly to: number;
  /** Whether the outage began, and whether it ended, before the end of the simulation. */
  readonly state: "not begun" | "not ended" | "ended";
  /** Number of items that had not ended when the outage ended; 0 if it has not ended. */
  readonly backlog: number;
  /** Time at which all these items had ended; `undefined` if some of them did not end. */
  readonly goneAt: number | undefined;
  /** Attempts from the beginning of the outage until its backlog was gone. */
  readonly meanwhile: Attempts;
}

/** Watches the backlogs of outages. Items that fail for a reason of their own, such as poison keys, are left out. */
export class Outages {
  readonly #watched: {
    readonly outage: Outage;
    state: OutageReport["state"];
    backlog: number;
    left: number;
    goneAt: number | undefined;
    before: Attempts;
    until: Attempts | undefined;
  }[];
  readonly #totals: Attempts;

  /** `totals` are the attempts of the simulation so far. */
  constructor(outages: readonly Outage[], totals: Attempts) {
    this.#totals = totals;
    this.#watched = outages.map((outage) => ({
      outage,
      state: "not begun",
      backlog: 0,
      left: 0,
      goneAt: undefined,
      before: { attempts: 0, retries: 0 },
      until: undefined,
    }));
  }

  /** Calls `at` with each time at which `begin` or `end` must be called. */
  schedule(at: (time: number, action: () => void) => void, open: () => Iterable<OpenItem>): void {
    this.#watched.forEach(({ outage: { from, to } }, i) => {
      at(from, () => this.#begin(i));
      at(to, () => this.#end(i, to, open()));
    });
  }

  /** Called when an item ends, or fails for a reason of its own. */
  leave(item: OpenItem, now: number): void {
    for (const i of item.outages ?? []) this.#leave(i, now);
    item.outages = undefined;
  }

  reports(): OutageReport[] {
    return this.#watched.map(({ outage, state, backlog, goneAt, before, until = this.#totals }) => ({
      ...outage,
      state,
      backlog,
      goneAt,
      meanwhile: { attempts: until.attempts - before.attempts, retries: until.retries - before.retries },
    }));
  }

  #begin(i: number): void {
    const watched = this.#watched[i]!;
    watched.state = "not ended";
    watched.before = { ...this.#totals };
  }

  #end(i: number, now: number, open: Iterable<OpenItem>): void {
    const watched = this.#watched[i]!;
    watched.state = "ended";
    for (const item of open) {
      if (item.failing === "poison") continue;
      (item.outages ??= []).push(i);
      watched.backlog++;
    }
    watched.left = watched.backlog + 1;
    this.#leave(i, now);
  }

  #leave(i: number, now: number): void {
    const watched = this.#watched[i]!;
    if (--watched.left > 0) return;
    watched.goneAt = now;
    watched.until = { ...this.#totals };
  }
}
