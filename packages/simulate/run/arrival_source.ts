import type { Arrival } from "../load/arrival.ts";
import { indexOf } from "../load/keyspaces.ts";
import type { Arrivals } from "../load/kinds.ts";
import type { Load } from "../load/load.ts";
import type { Trace } from "../trace/read_trace.ts";
import { RandomNumbers } from "../random/random_numbers.ts";

/** Iterates over the arrivals of a load or of its trace, in the order of their times, up to the end of the load. */
export function* arrivalsOf(load: Load, seed: number, trace?: Trace): Generator<Arrival, void> {
  if (trace !== undefined) return yield* trace.arrivals.filter(({ at }) => at < load.duration);
  const keys = RandomNumbers.for(seed, "keys");
  const pickGroup = picker(
    load.groups.map((group) => [group.name, group.share]),
    "",
    RandomNumbers.for(seed, "groups"),
  );
  const priorities = [...load.priorities ?? []].map(([name, share]) => [Number(name), share] as const);
  const pickPriority = picker(priorities, 0, RandomNumbers.for(seed, "priorities"));
  let number = 0;
  for (const [at, source] of timesOf(load, seed)) {
    const group = source.group ?? pickGroup();
    const name = load.keys?.next(number, keys) ?? `item-${number}`;
    yield {
      number: number++,
      at,
      key: group === "" ? name : `${group}/${name}`,
      group,
      priority: source.priority ?? pickPriority(),
    };
  }
}

/** Iterates over the times of all arrivals, each with its source. */
function* timesOf({ arrivals, duration }: Load, seed: number): Generator<[number, Arrivals], void> {
  const sources = arrivals.map((source, i) => source.times(RandomNumbers.for(seed, "arrivals", i), duration));
  const next = sources.map(nextOf);
  for (;;) {
    const first = Math.min(...next);
    if (first === Infinity) return;
    const source = next.indexOf(first);
    next[source] = nextOf(sources[source]!);
    yield [first, arrivals[source]!];
  }
}

/** Returns the next time; `Infinity` if there is none. */
function nextOf(source: Iterator<number, unknown>): number {
  const { done, value } = source.next();
  return done ? Infinity : value as number;
}

/** Returns a function that picks values in proportion to their shares. Without values, it returns `preset`. */
function picker<V>(shares: readonly (readonly [V, number])[], preset: V, random: RandomNumbers): () => V {
  if (shares.length === 0) return () => preset;
  let sum = 0;
  const sums = Float64Array.from(shares, ([, share]) => sum += share);
  return () => shares[indexOf(sums, random.uniform() * sum)]![0];
}
