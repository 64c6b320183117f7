/**
 * Replay of the recorded traces of controller-runtime's priority queue on an engine, with strict priorities. The traces
 * contain a priority each time an item is added or handed out.
 *
 * @module
 */

import { StrictOrder } from "../strict_order.ts";
import type { Trace } from "../trace.ts";
import { EndOfTrace, QueueReplay, slowLimiter } from "./queue_replay.ts";
import type { Place } from "./store.ts";

/** Item that was handed out, with its priority. */
interface Taken {
  readonly item: number;
  readonly priority: number;
}

/** Next items of both queues. */
interface HandOut {
  readonly taken: Taken;
  readonly theirs: Taken;
}

/** Result of a call after the shutdown. */
const SHUTDOWN: Taken = { item: -1, priority: 0 };

/**
 * Replay of operations on which both queues agree. If the delay of an item is shortened, so that the item is due at the
 * same time as others, its place in an engine differs, and the replay ends when such an item is handed out.
 */
class PriorityReplay extends QueueReplay {
  readonly ours = new StrictOrder("ours in an engine");
  readonly theirs = new StrictOrder("theirs");
  /** Number of calls to `get` that wait. */
  #waiting = 0;
  /** Items for calls to `get` that had to wait. Items that have been compared are removed. */
  readonly #served: HandOut[] = [];

  constructor(trace: Trace, place: Place) {
    const discipline = { type: "priority", maxHeadStart: "unlimited" } as const;
    super(trace, place, { limiter: slowLimiter(trace), discipline, replaces: true });
  }

  override async perform(operation: string): Promise<void> {
    await this.performOne(operation);
    await this.#serve();
  }

  /** Serves calls to `get` that wait, as far as there are items. */
  async #serve(): Promise<void> {
    for (; this.#waiting > 0 && this.ours.length > 0; this.#waiting--) this.#served.push(await this.handOut());
  }

  async performOne(operation: string): Promise<void> {
    switch (operation) {
      case "add":
        return await this.addWith(this.trace.next(), 0, this.trace.next());
      case "addAfter":
        return await this.addWith(this.trace.next(), this.trace.next(), this.trace.next());
      case "addRateLimited": {
        const [item, priority, recorded] = [this.trace.next(), this.trace.next(), this.trace.next()];
        return await this.addRateLimited(item, recorded, priority);
      }
      case "get":
        return await this.get();
      case "getLater":
        this.#waiting++;
        return;
      case "wait":
        return await this.#wait(this.trace.next());
      case "served":
        return this.compare(this.#served.shift() ?? { taken: SHUTDOWN, theirs: SHUTDOWN });
      default:
        return await super.perform(operation);
    }
  }

  async addWith(item: number, delay: number, priority: number): Promise<void> {
    if (this.refuses()) return;
    await this.engine.addEach([{ key: `${item}`, payload: "", delay: this.slow(Math.max(delay, 0)), priority }]);
    this.added(item, delay, priority);
  }

  override noteDelay(item: number, delay: number, priority: number): void {
    this.added(item, delay, priority);
  }

  added(item: number, delay: number, priority: number): void {
    this.ours.add(item, priority, delay);
    this.theirs.add(item, priority, delay);
    this.#followDelayed();
  }

  /** Lets time pass. While calls to `get` wait, stops whenever items are due. */
  async #wait(ns: number): Promise<void> {
    const end = this.now + ns;
    while (this.#waiting > 0 && !this.isShutDown) {
      const next = Math.min(...this.due.values());
      if (next > end) break;
      this.wait(next - this.now);
      await this.#serve();
    }
    this.wait(end - this.now);
  }

  override wait(ns: number): void {
    super.wait(ns);
    if (this.isShutDown) return;
    this.ours.pass(ns);
    this.theirs.pass(ns);
    this.#followDelayed();
  }

  async get(): Promise<void> {
    this.compare(await this.handOut());
  }

  /** Takes the next items of both queues. */
  async handOut(): Promise<HandOut> {
    return { taken: await this.takeNext() ?? SHUTDOWN, theirs: this.theirs.take() ?? SHUTDOWN };
  }

  /** Takes the next item, which must be the one that the engine promises. */
  async takeNext(): Promise<Taken | undefined> {
    const taken = await this.takeKey();
    const promised = this.ours.take();
    this.trace.equal("promised item", taken?.item ?? -1, promised?.item ?? -1);
    this.trace.equal("promised priority", taken?.priority ?? 0, promised?.priority ?? 0);
    return taken;
  }

  /** Compares the next items with the next item and priority of the trace. */
  compare({ taken, theirs }: HandOut): void {
    this.compareTheirs(theirs);
    if (taken.item !== theirs.item) this.#end();
    this.trace.equal("priority", taken.priority, theirs.priority);
  }

  compareTheirs(theirs: Taken): void {
    this.trace.same("item of controller-runtime", theirs.item);
    this.trace.same("priority of controller-runtime", theirs.priority);
  }

  override async done(item: number): Promise<void> {
    await super.done(item);
    this.ours.done(item);
    this.theirs.done(item);
  }

  override async compareState(): Promise<void> {
    const { ready, delayed, processing } = await this.engine.counts();
    this.trace.equal("length", ready, this.ours.length);
    this.trace.same("length of controller-runtime", this.theirs.length);
    this.trace.equal("processing", processing, this.processing.size);
    this.trace.equal("delayed", delayed, this.due.size);
    this.trace.equal("whether it is open", Number(this.trace.next() === 0), Number(!this.isShutDown));
  }

  #followDelayed(): void {
    this.due.clear();
    for (const [item, due] of this.ours.dues()) this.due.set(item, due);
  }

  #end(): never {
    this.trace.except("shortened-delay-loses-its-place");
    throw new EndOfTrace();
  }
}

/** Replays operations on which both queues agree. */
export function replayPriority(trace: Trace, place: Place): Promise<void> {
  return new PriorityReplay(trace, place).run();
}

/** Replay of traces with metrics. The replay skips the metrics, which processes measure, not the engine. */
class MeasuredReplay extends PriorityReplay {
  override async compareState(): Promise<void> {
    await super.compareState();
    const [depth] = this.#skip(5);
    this.trace.equal("depth of controller-runtime", depth, this.theirs.length);
    this.#skip(this.trace.next());
    this.#skip(this.trace.next());
  }

  #skip(count: number): number[] {
    return Array.from({ length: count }, () => this.trace.next());
  }
}

/** Replays a trace with client-go's seven metrics. */
export function replayPriorityMetrics(trace: Trace, place: Place): Promise<void> {
  return new MeasuredReplay(trace, place).run();
}

/** Replay of traces with up to 60 priorities. The replay skips the gauges by priority. */
class GaugesReplay extends PriorityReplay {
  override async performOne(operation: string): Promise<void> {
    if (operation !== "depths") return await super.performOne(operation);
    let sum = this.trace.next();
    for (let left = this.trace.next(); left > 0; left--) {
      this.trace.next();
      sum += this.trace.next();
    }
    this.trace.equal("sum of the gauges of controller-runtime", sum, this.theirs.length);
  }
}

/** Replays a trace with depths by priority. */
export function replayPriorityGauges(trace: Trace, place: Place): Promise<void> {
  return new GaugesReplay(trace, place).run();
}

/**
 * Replay of traces in which the two queues hand out items in different orders. `takeAll` takes all ready items and
 * finishes them, so that both queues are in the same state again.
 */
class OrderReplay extends PriorityReplay {
  constructor(trace: Trace, place: Place, readonly exception: string) {
    super(trace, place);
  }

  override async performOne(operation: string): Promise<void> {
    return operation === "takeAll" ? await this.#takeAll() : await super.performOne(operation);
  }

  async #takeAll(): Promise<void> {
    let isAlike = true;
    for (let left = this.trace.next(); left > 0; left--) {
      const { taken, theirs } = await this.handOut();
      this.compareTheirs(theirs);
      isAlike &&= taken.item === theirs.item;
      await this.done(taken.item);
      this.theirs.done(theirs.item);
    }
    if (!isAlike) this.trace.except(this.exception);
  }
}

/** Replays items that are added again while processing. */
export function replayPriorityReadds(trace: Trace, place: Place): Promise<void> {
  return new OrderReplay(trace, place, "readd-keeps-its-place").run();
}

/** Replays delayed items that are made ready, or that get a higher priority. */
export function replayPriorityPromotions(trace: Trace, place: Place): Promise<void> {
  return new OrderReplay(trace, place, "promotion-keeps-its-place").run();
}

/**
 * Replay of a shutdown or drain while items are ready. controller-runtime hands out none of these items. The replay
 * takes them as another process would, and finishes them immediately.
 */
class ShutdownReplay extends PriorityReplay {
  override async performOne(operation: string): Promise<void> {
    if (operation !== "shutDownAgain") return await super.performOne(operation);
    this.trace.equal("panic of controller-runtime", this.trace.next(), 1);
    this.trace.except("second-shutdown-panics");
  }

  override async get(): Promise<void> {
    if (!this.isShutDown) return await super.get();
    const taken = await this.takeNext();
    if (taken !== undefined) {
      await super.done(taken.item);
      this.trace.except("ready-items-dropped");
    }
    this.trace.equal("item of controller-runtime", this.trace.next(), SHUTDOWN.item);
    this.trace.equal("priority of controller-runtime", this.trace.next(), SHUTDOWN.priority);
  }
}

/** Replays shutdowns and drains. */
export function replayPriorityShutdown(trace: Trace, place: Place): Promise<void> {
  return new ShutdownReplay(trace, place).run();
}
