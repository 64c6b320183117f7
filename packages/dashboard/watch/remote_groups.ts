import type { RemoteQueueSnapshot } from "@workqueue/core/hooks";
import type { BlockedGroup, BlockedGroupList } from "../api.ts";
import type { RemoteQueueLike } from "../contract.ts";
import { type BlockedFor, blockedForIn, type GroupList } from "./source.ts";

/** Groups of a shared queue that have blocked items, from the latest snapshot. */
export class RemoteGroups implements GroupList {
  readonly #queue: RemoteQueueLike<unknown>;
  #blocked: RemoteQueueSnapshot<unknown>["blockedGroups"];
  isMissing = false;
  /** Whether the snapshot has all groups with blocked items. */
  #isWhole = false;

  constructor(queue: RemoteQueueLike<unknown>) {
    this.#queue = queue;
  }

  /** Takes the groups from a snapshot with up to `limit` of them. */
  update({ blockedGroups }: RemoteQueueSnapshot<unknown>, limit: number): void {
    this.#blocked = blockedGroups;
    this.isMissing = blockedGroups === undefined;
    this.#isWhole = blockedGroups !== undefined && blockedGroups.length < limit;
  }

  forget(): void {}

  blockedFor(): BlockedFor {
    return blockedForIn(this.#blocked ?? []);
  }

  list(search: string, limit: number): BlockedGroupList | null {
    if (this.#blocked === undefined) return null;
    const wanted = search.toLowerCase();
    const matching = this.#blocked.filter(({ group }) => group.toLowerCase().includes(wanted));
    const groups = matching.slice(0, limit).map(({ group, reason, blocked, resumesInMs }): BlockedGroup => {
      return { name: group, reason, blocked, resumesInMs: resumesInMs && Math.round(resumesInMs) };
    });
    return { count: this.#isWhole ? matching.length : null, groups };
  }

  async pause(name: string, ms: number): Promise<number> {
    await this.#queue.pauseGroup?.(name, ms);
    return ms;
  }

  async resume(name: string): Promise<boolean> {
    await this.#queue.resumeGroup?.(name);
    return true;
  }
}
