/**
 * Queues whose mean waits are known exactly, and the waits of the same queues in a simulation.
 *
 * The formulas are those of Erlang (M/M/c), Pollaczek and Khinchine (M/G/1), and Cobham (Operations Research 2, 1954),
 * for priorities that don't interrupt.
 *
 * @module
 */

import { loadOf, readLoadOptions } from "../../packages/simulate/load/load.ts";
import { Simulation } from "../../packages/simulate/run/simulation.ts";

/** A queue and a load with known waits. All times are in milliseconds. */
export interface Cell {
  readonly name: string;
  /** Largest relative error of the mean waits, with two million customers. */
  readonly bound: number;
  readonly queue: object;
  /** Arrivals per second. */
  readonly rate: number;
  readonly work: Readonly<Record<string, unknown>>;
  readonly priorities?: Readonly<Record<string, number>>;
  /** Mean waits: of all customers or, with priorities, of each priority. */
  readonly waits: readonly number[];
}

/** Result of a simulation. */
export interface Measured {
  readonly waits: readonly number[];
  /** Time for which customers were there, in proportion to the sum of their times: 1 by Little's law. */
  readonly little: number;
}

const MEAN = 100;
const MEDIAN = 50;
const P99 = 500;

/** Share of the customers that is left out, because the queue begins empty. */
const WARM_UP = 0.1;

/** All cells of the proof. */
export const cells: readonly Cell[] = [0.5, 0.8, 0.95].flatMap((utilization) => {
  const bound = utilization > 0.8 ? 0.05 : 0.02;
  const exponential = { type: "exponential", mean: MEAN };
  return [
    ...[1, 2, 8, 64].map((workers): Cell => ({
      name: `M/M/${workers}, utilization ${utilization}`,
      bound,
      queue: { concurrency: workers },
      rate: workers * utilization * 1000 / MEAN,
      work: exponential,
      waits: [erlang(workers, utilization) * MEAN / (workers * (1 - utilization))],
    })),
    {
      name: `M/D/1, utilization ${utilization}`,
      bound,
      queue: {},
      rate: utilization * 1000 / MEAN,
      work: { type: "constant", time: MEAN },
      waits: [utilization * MEAN / (2 * (1 - utilization))],
    },
    lognormal(utilization, bound),
    priorities(utilization, bound, exponential),
  ];
});

/** Simulates a cell with about the given number of customers. */
export async function measure(cell: Cell, customers: number, seed = 1): Promise<Measured> {
  const duration = customers / cell.rate * 1000;
  const load = loadOf(readLoadOptions({
    duration,
    warmUp: duration * WARM_UP,
    arrivals: [{ type: "poisson", rate: cell.rate }],
    work: cell.work,
    ...(cell.priorities && { priorities: cell.priorities }),
  }));
  const document = { queues: { q: cell.queue } };
  const simulation = new Simulation({ document, configs: {}, queue: "q", registries: {}, load, seed });
  await simulation.run();
  const { all, byPriority } = simulation.ledger;
  const classes = cell.priorities === undefined ? [all] : [...byPriority.values()];
  const { totalTime, timeline } = simulation;
  return { waits: classes.map(({ waits }) => waits.times().mean), little: timeline.itemTime / totalTime };
}

/** Returns the probability that a customer waits, by Erlang's C formula. */
function erlang(workers: number, utilization: number): number {
  const offered = workers * utilization;
  let blocking = 1; // Erlang's B formula, by recursion
  for (let n = 1; n <= workers; n++) blocking = offered * blocking / (n + offered * blocking);
  return blocking / (1 - utilization * (1 - blocking));
}

function lognormal(utilization: number, bound: number): Cell {
  const sigma = Math.log(P99 / MEDIAN) / 2.3263478740408408;
  const mean = MEDIAN * Math.exp(sigma ** 2 / 2);
  const meanSquare = MEDIAN ** 2 * Math.exp(2 * sigma ** 2);
  const rate = utilization / mean;
  return {
    name: `M/G/1 (lognormal), utilization ${utilization}`,
    bound,
    queue: {},
    rate: rate * 1000,
    work: { type: "lognormal", median: MEDIAN, p99: P99 },
    waits: [rate * meanSquare / (2 * (1 - utilization))],
  };
}

/** Three strict priorities. Only the wait of the lowest one has a bound of its own: 5 %. */
function priorities(utilization: number, bound: number, work: Cell["work"]): Cell {
  const shares = { "30": 0.2, "20": 0.3, "10": 0.5 };
  const residual = utilization * MEAN; // half the mean square of an exponential time is the square of its mean
  let above = 0;
  const waits = Object.fromEntries(
    Object.entries(shares).sort(([a], [b]) => Number(b) - Number(a)).map(([priority, share]) => {
      const before = above;
      above += share * utilization;
      return [priority, residual / ((1 - before) * (1 - above))];
    }),
  );
  return {
    name: `Cobham's priorities, utilization ${utilization}`,
    bound: Math.max(bound, 0.05),
    queue: { discipline: { type: "priority", maxHeadStart: "unlimited" } },
    rate: utilization * 1000 / MEAN,
    work,
    priorities: shares,
    waits: Object.keys(shares).map((priority) => waits[priority]!),
  };
}
