import { systemClock } from "@workqueue/core";
import type { QueueGroups } from "@workqueue/core/hooks";
import type { BlockedGroup, BlockedGroupList } from "../api.ts";
import { Least } from "./least.ts";
import { inSlices, type Steps } from "./slices.ts";
import { keyTexts } from "./texts.ts";
import { waitFor } from "./timer.ts";

/** Maximum number of groups to find: those with the most blocked items. */
const MAX_FOUND = 10_000;
/** Maximum duration of a scan, in milliseconds: enough for about a million groups. */
const MAX_TIME = 1000;
/** Duration of the rest after a scan, as a multiple of its duration. Scans thus run for a twentieth of the time. */
const REST = 19;
/** Longest wait for a scan before an earlier result is shown, in milliseconds. */
const PATIENCE = 900;
/** Number of groups between two checks of the time. */
const GROUPS_PER_LOOK = 64;

/** Groups of a queue's items. */
export interface Groups extends Pick<QueueGroups, "groupNames" | "blockOf"> {
  /** Reports whether `groupNames` returns all groups that are paused or have blocked items. If omitted, it does. */
  isWhole?(): boolean;
  /**
   * Pauses a group, for a number of milliseconds. If the group is already paused, the later end applies. Returns the
   * time until the end of the pause, in milliseconds.
   */
  pause(group: unknown, ms: number): number | Promise<number>;
  /** Ends the pause of a group. Returns `false` if the group is known not to be paused. */
  resume(group: unknown): boolean | Promise<boolean>;
}

/** Number of blocked items by reason. */
export type BlockedFor = Readonly<Partial<Record<BlockedGroup["reason"], number>>>;

/** Result of a scan. */
interface Found {
  /** Groups with the most blocked items, sorted by their number of blocked items, the largest first. */
  readonly groups: readonly unknown[];
  /** Number of groups that are paused or have blocked items; `null` if not all groups were checked. */
  readonly count: number | null;
}

const NOTHING: Found = { groups: [], count: null };

/**
 * Finds the groups of a queue that are paused or have blocked items, among any number of groups. A scan of all groups
 * runs in slices, for about a twentieth of the time, and serves all clients.
 */
export class BlockedGroups {
  readonly #groups: Groups;
  readonly #textOf = keyTexts((group) => group, undefined);
  #found = NOTHING;
  #scanning: Promise<void> | undefined;
  #restsUntil = -Infinity;

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  /** Lets the next scan begin at once. Called after a change to the queue. */
  forget(): void {
    this.#restsUntil = -Infinity;
  }

  /** Returns at most `limit` of the groups whose names match, with the most blocked items first. */
  async list(search: string, limit: number): Promise<BlockedGroupList> {
    this.#scan();
    if (this.#scanning !== undefined) await waitFor(this.#scanning, PATIENCE);
    const { groups, count } = this.#found;
    const wanted = search.toLowerCase();
    const matching = wanted === "" ? groups : groups.filter((group) => this.#nameOf(group).includes(wanted));
    const isWhole = count === groups.length;
    return {
      count: wanted === "" ? count : isWhole ? matching.length : null,
      groups: matching.slice(0, limit).flatMap((group) => this.#show(group)),
    };
  }

  /** Returns the number of blocked items by reason, in the groups that are known to have some. */
  blockedFor(): BlockedFor {
    this.#scan();
    const counts: Partial<Record<BlockedGroup["reason"], number>> = {};
    for (const group of this.#found.groups) {
      const { reason, blocked = 0 } = this.#groups.blockOf!(group) ?? {};
      if (blocked > 0) counts[reason!] = (counts[reason!] ?? 0) + blocked;
    }
    return counts;
  }

  /** Pauses the group with this name. Returns the time until the end of the pause, in milliseconds. */
  pause(name: string, ms: number): number | Promise<number> {
    return this.#groups.pause(this.#groupOf(name), ms);
  }

  /** Ends the pause of the group with this name. Returns `false` if the group is known not to be paused. */
  resume(name: string): boolean | Promise<boolean> {
    return this.#groups.resume(this.#groupOf(name));
  }

  #nameOf(group: unknown): string {
    return this.#textOf(group).toLowerCase();
  }

  /** Returns the group with this name. A group that is not a string must have been found. */
  #groupOf(name: string): unknown {
    return this.#found.groups.find((group) => this.#textOf(group) === name) ?? name;
  }

  #show(group: unknown): BlockedGroup[] {
    const block = this.#groups.blockOf!(group);
    if (block === undefined) return []; // it is no longer blocked
    const { reason, blocked, resumesInMs } = block;
    return [{ name: this.#textOf(group), reason, blocked, resumesInMs: resumesInMs && Math.round(resumesInMs) }];
  }

  #scan(): void {
    const beganAt = systemClock.now();
    if (this.#scanning !== undefined || beganAt < this.#restsUntil || this.#groups.groupNames === undefined) return;
    const finish = (found: Found) => {
      const now = systemClock.now();
      this.#found = found;
      this.#restsUntil = now + REST * (now - beganAt);
    };
    const found = inSlices(this.#steps(beganAt));
    if (!(found instanceof Promise)) return finish(found);
    this.#scanning = found.then(finish).finally(() => this.#scanning = undefined);
  }

  *#steps(beganAt: number): Steps<Found> {
    const found = new Least<{ readonly group: unknown; readonly blocked: number }>(
      MAX_FOUND,
      ({ blocked }) => -blocked,
    );
    let [checked, isWhole] = [0, true];
    for (const group of this.#groups.groupNames!()) {
      const block = this.#groups.blockOf!(group);
      if (block !== undefined) found.add({ group, blocked: block.blocked });
      isWhole = ++checked % GROUPS_PER_LOOK > 0 || systemClock.now() - beganAt < MAX_TIME;
      if (!isWhole) break;
      yield;
    }
    isWhole &&= this.#groups.isWhole?.() ?? true;
    return { groups: found.list().map(({ group }) => group), count: isWhole ? found.count : null };
  }
}
