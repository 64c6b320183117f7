import type { ReadyEntry } from "../lib/contracts/discipline.ts";
import type { GroupOf } from "../registry/grouping.ts";
import { FairOrder, type FairOrderOptions } from "./fair_order.ts";
import { OrderedDiscipline } from "./ordered_discipline.ts";

/** Fair discipline. Its own methods are for another discipline that wraps it. */
export class FairDiscipline extends OrderedDiscipline<FairOrder> {
  constructor(groupOf: GroupOf, options: FairOrderOptions) {
    super((records, clock) => new FairOrder(records, clock, groupOf, options), FairDiscipline.prototype);
  }

  get nextChangeAt(): number {
    this.order.look();
    return this.order.nextChangeAt;
  }

  pauseGroup(group: unknown, until: number): void {
    this.order.pauseGroup(group, until);
  }

  resumeGroup(group: unknown): void {
    this.order.resumeGroup(group);
  }

  groupOf(entry: Pick<ReadyEntry<unknown>, "key" | "item">): unknown {
    return this.order.groupOf(entry);
  }
}
