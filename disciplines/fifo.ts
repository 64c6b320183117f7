import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";

interface Place {
  readonly entry: ReadyEntry<unknown>;
  next: Place | undefined;
}

/** First in, first out: the default order within a group. A linked list, because most groups are small. */
export class FifoDiscipline implements QueueDiscipline<unknown> {
  length = 0;
  #first: Place | undefined = undefined;
  #last: Place | undefined = undefined;

  push(entry: ReadyEntry<unknown>): void {
    const place: Place = { entry, next: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.length++;
  }

  pop(): ReadyEntry<unknown> | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    this.#first = first.next;
    if (this.#first === undefined) this.#last = undefined;
    this.length--;
    return first.entry;
  }

  touch(): void {}

  peek(limit: number): ReadyEntry<unknown>[] {
    const entries: ReadyEntry<unknown>[] = [];
    for (let place = this.#first; place !== undefined && entries.length < limit; place = place.next) {
      entries.push(place.entry);
    }
    return entries;
  }
}
