import { setImmediate } from "node:timers";
import { type Dispatch, Dispatcher, type DispatcherEvents, type TurnLimits, type Want } from "./dispatcher.ts";
import type { Finish, FinishAnswer, Partitions } from "./engine.ts";
import type { HeldLease } from "./lease.ts";

/**
 * Number of keys by which the hand-outs of a partition may exceed those of others. Larger with many workers. The call
 * that reports an outcome also asks for more, which saves another call. Without this limit, a process with one worker
 * would ask the same partition for as long as the partition has keys.
 */
const LEAD = 8;
/** Longest time that wants wait for the reply of one partition before others are asked as well, in milliseconds. */
const MAX_WAIT = 100;
/**
 * Time without wants after which this process wants no work, in milliseconds. A pool wants work again as soon as it has
 * begun to work on the leases that it got.
 */
const WANTS_AGAIN = 10;
/**
 * Longest time that this process keeps leases that nothing wants, in milliseconds. A key that is handed back is handed
 * out again after later keys of its group that other processes have got meanwhile. A key that is kept until a worker is
 * free keeps its place.
 */
const MAX_KEEP = 5000;

/** Partition, and what this process knows about it. */
interface Partition<T> {
  readonly dispatcher: Dispatcher<T>;
  /** Number of leases for which the running call asks. */
  asked: number;
  /** Time when the running call began. */
  askedAt: number;
  /** Whether the partition will be asked in this turn of the event loop. */
  isInvited: boolean;
  /** Whether the latest call that asked for leases got fewer. */
  isShort: boolean;
  /** Number of leases from the partition. A partition that had no work for a while doesn't fall behind the others. */
  served: number;
}

/**
 * Divides the wants of this process among the partitions of a queue. Asks the partitions that may have work by turns,
 * and all of them together for no more leases than are wanted. A partition that doesn't reply delays no other.
 */
export class PartitionedDispatcher<T> implements Dispatch<T> {
  readonly #indexOf: (key: string) => number;
  readonly #partitions: readonly Partition<T>[];
  readonly #wants = new Set<Want<T>>();
  /** Want that each dispatcher gets. It stands for all wants, and `#begin` limits the leases for it. */
  readonly #want: Want<T> = {
    request: () => ({ count: Infinity }),
    accept: (leases) => this.#accept(leases),
    end: () => {},
  };
  #isOffered = false;
  /**
   * Leases that arrived when nothing wanted them: before a pool wanted work again, or from a partition that replied so
   * late that others were asked as well.
   */
  #kept: HeldLease<T>[] = [];
  /** Partition that has the duty to try suspects in this process. Until they are tried, no other is asked. */
  #alone: Partition<T> | undefined = undefined;
  #isClosed = false;
  #isScheduled = false;
  #idleEnd: ReturnType<typeof setTimeout> | undefined = undefined;
  #waitEnd: ReturnType<typeof setTimeout> | undefined = undefined;
  #keepEnd: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor({ engines, indexOf }: Partitions, process: string, events: DispatcherEvents<T>) {
    this.#indexOf = indexOf;
    this.#partitions = engines.map((engine) => {
      const limits: TurnLimits = {
        begin: (wanted) => this.#begin(partition, wanted),
        isBusyElsewhere: () => this.#isBusyBeside(partition),
        end: (wanted, taken, isAlone) => this.#end(partition, wanted, taken, isAlone),
      };
      const partition: Partition<T> = {
        dispatcher: new Dispatcher(engine, process, events, limits),
        asked: 0,
        askedAt: 0,
        isInvited: false,
        isShort: false,
        served: Math.random(), // so that processes begin with different partitions
      };
      return partition;
    });
  }

  get processing(): number {
    return this.#partitions.reduce((sum, { dispatcher }) => sum + dispatcher.processing, 0);
  }

  get isDone(): boolean {
    return this.#partitions.every(({ dispatcher }) => dispatcher.isDone);
  }

  get isPaused(): boolean {
    return this.#partitions.some(({ dispatcher }) => dispatcher.isPaused);
  }

  want(want: Want<T>): void {
    this.#wants.add(want);
    if (this.#kept.length > 0) this.#accept(this.#kept.splice(0));
    this.#inviteLater();
    if (this.#isOffered) return;
    this.#isOffered = true;
    for (const { dispatcher } of this.#partitions) dispatcher.want(this.#want);
  }

  unwant(want: Want<T>): void {
    this.#wants.delete(want);
    if (this.#wants.size === 0) this.#endSoon();
  }

  look(): void {
    for (const { dispatcher } of this.#partitions) dispatcher.look();
  }

  mayBegin(lease: HeldLease<T>): boolean {
    return this.#dispatcherOf(lease).mayBegin(lease);
  }

  finish(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    return this.#dispatcherOf(lease).finish(lease, finish);
  }

  losePermits(): void {
    for (const { dispatcher } of this.#partitions) dispatcher.losePermits();
  }

  tellAdds(): void {
    for (const { dispatcher } of this.#partitions) dispatcher.tellAdds();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idleEnd);
    clearTimeout(this.#waitEnd);
    for (const want of this.#wants) want.end();
    this.#wants.clear();
    this.#handBack();
    for (const { dispatcher } of this.#partitions) dispatcher.close();
  }

  async leave(): Promise<void> {
    await Promise.all(this.#partitions.map(({ dispatcher }) => dispatcher.leave()));
  }

  #dispatcherOf({ key }: HeldLease<T>): Dispatcher<T> {
    return this.#partitions[this.#indexOf(key)]!.dispatcher;
  }

  /** Number of leases that the wants accept now. */
  get #wanted(): number {
    let count = 0;
    for (const want of this.#wants) count += want.request().count;
    return count;
  }

  /** Number of wanted leases for which no running call asks. */
  get #free(): number {
    return this.#partitions.reduce((free, { asked }) => free - asked, this.#wanted - this.#kept.length);
  }

  /** Gives leases to the wants, and keeps the rest for wants that come soon. */
  #accept(leases: readonly HeldLease<T>[]): void {
    leases = leases.filter((lease) => this.mayBegin(lease));
    let given = 0;
    for (const want of this.#wants) {
      const some = leases.slice(given, given + want.request().count);
      if (some.length > 0) want.accept(some);
      given += some.length;
    }
    this.#kept.push(...leases.slice(given));
    if (this.#isClosed || this.#kept.length === 0) this.#handBack();
    else this.#keepEnd ??= setTimeout(() => this.#handBack(), MAX_KEEP);
  }

  /** Hands back the leases that are kept. */
  #handBack(): void {
    clearTimeout(this.#keepEnd);
    this.#keepEnd = undefined;
    for (const lease of this.#kept.splice(0)) lease.giveBack();
  }

  #endSoon(): void {
    if (!this.#isClosed) this.#idleEnd ??= setTimeout(() => this.#endIdle(), WANTS_AGAIN);
  }

  #endIdle(): void {
    this.#idleEnd = undefined;
    if (this.#isClosed || this.#wants.size > 0) return;
    this.#isOffered = false;
    for (const { dispatcher } of this.#partitions) dispatcher.unwant(this.#want);
  }

  /** Returns the number of leases for which a partition may be asked now. */
  #begin(partition: Partition<T>, wanted: number): number {
    const { isInvited, isShort } = partition;
    partition.isInvited = false;
    const free = this.#free;
    if (wanted === 0 || free <= 0 || (this.#alone !== undefined && this.#alone !== partition)) return 0;
    const fewest = this.#fewestServed(partition);
    if (isShort && fewest < Infinity) partition.served = Math.max(partition.served, fewest);
    let count: number;
    if (isInvited) {
      count = Math.min(Math.max(Math.ceil(free / Math.max(this.#open.length, 1)), LEAD), free);
    } else {
      const share = 2 * (this.processing + free) / this.#partitions.length;
      const most = isShort ? 1 : Math.ceil(fewest + Math.max(share, LEAD) - partition.served);
      count = Math.max(Math.min(free - this.#invited, most), 0);
      if (count < free) this.#inviteLater();
    }
    count = Math.min(count, wanted);
    if (count === 0) return 0;
    partition.asked = count;
    partition.askedAt = performance.now();
    this.#waitEnd ??= setTimeout(() => this.#endWaits(), MAX_WAIT);
    return count;
  }

  #end(partition: Partition<T>, wanted: number, taken: number, isAlone: boolean): void {
    if (wanted > 0) {
      partition.asked = 0;
      partition.served += taken;
      partition.isShort = taken < wanted;
      if (isAlone) this.#alone = partition;
      else if (this.#alone === partition) this.#alone = undefined;
    }
    if (this.#free > 0) this.#inviteLater();
  }

  /** Asks other partitions instead of those that have not replied for long. */
  #endWaits(): void {
    this.#waitEnd = undefined;
    const asked = this.#partitions.filter(({ asked }) => asked > 0);
    const since = performance.now() - MAX_WAIT;
    for (const partition of asked) if (partition.askedAt <= since) partition.asked = 0;
    if (asked.some(({ asked }) => asked > 0)) this.#waitEnd = setTimeout(() => this.#endWaits(), MAX_WAIT);
    this.#inviteLater();
  }

  #inviteLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isClosed) this.#invite();
    });
  }

  /** Asks partitions that may have work, beginning with those that have handed out the fewest keys. */
  #invite(): void {
    const free = this.#free - this.#invited;
    if (free <= 0) return;
    for (const partition of this.#next(Math.ceil(free / LEAD))) {
      partition.isInvited = true;
      partition.dispatcher.look();
    }
  }

  /** Returns up to `count` partitions to ask next. */
  #next(count: number): Partition<T>[] {
    const alone = this.#alone;
    if (alone !== undefined) return alone.asked === 0 && !this.#isBusyBeside(alone) ? [alone] : [];
    return this.#open.filter(({ isInvited }) => !isInvited)
      .sort((one, other) => one.served - other.served).slice(0, count);
  }

  /** Partitions that may have work, and to which no call is in progress. */
  get #open(): Partition<T>[] {
    return this.#partitions.filter(({ dispatcher, asked }) => asked === 0 && dispatcher.mayHaveWork);
  }

  get #invited(): number {
    return this.#partitions.filter(({ isInvited }) => isInvited).length;
  }

  /** Returns the smallest number of leases from another open partition; `Infinity` if there is none. */
  #fewestServed(partition: Partition<T>): number {
    return Math.min(...this.#open.filter((other) => other !== partition).map(({ served }) => served));
  }

  #isBusyBeside(partition: Partition<T>): boolean {
    return this.#partitions.some((other) => other !== partition && !other.dispatcher.isDone);
  }
}
