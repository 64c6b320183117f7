import type { ClassTimes } from "../run/ledger.ts";
import type { Simulation } from "../run/simulation.ts";
import { factsOf } from "./facts.ts";
import type { ClassReport, Moment, SimulationReport } from "./report.ts";

/** Returns the report of a simulation that has run. */
export function reportOf(simulation: Simulation, queue: string, seed: number): SimulationReport {
  const { counts, clock, ledger, timeline: { step, steps } } = simulation;
  const duration = clock.now();
  const most = (numbers: readonly number[]): Moment => {
    const value = Math.max(0, ...numbers);
    return { at: Math.max(numbers.indexOf(value), 0) * step, value };
  };
  const attempts = steps.map(({ attempts }) => attempts);
  const backlog = steps.map(({ backlog }) => backlog);
  const waits = steps.map(({ wait }) => wait);
  const report = {
    queue,
    seed,
    duration,
    ...counts,
    unfinished: simulation.backlog,
    failures: Object.fromEntries([...simulation.failures].sort(([a], [b]) => a < b ? -1 : 1)),
    ...classReportOf(ledger.all),
    byGroup: byName(ledger.byGroup),
    byPriority: byName(ledger.byPriority),
    utilization: simulation.capacity === 0 ? 0 : simulation.busy / simulation.capacity,
    requests: {
      mean: duration === 0 ? 0 : counts.attempts / duration * 1000,
      max: simulation.timeline.busiest,
    },
    outages: simulation.outages.reports(),
    worst: { backlog: most(backlog), wait: most(waits) },
    timeline: {
      step,
      arrivals: steps.map(({ arrivals }) => arrivals),
      attempts,
      retries: steps.map(({ retries }) => retries),
      failures: steps.map(({ failures }) => failures),
      successes: steps.map(({ successes }) => successes),
      backlog,
      waits,
    },
  };
  return { ...report, facts: factsOf(report, simulation.missedChanges) };
}

function classReportOf({ waits, totals }: ClassTimes): ClassReport {
  return { waits: waits.times(), totals: totals.times() };
}

function byName(classes: ReadonlyMap<string | number, ClassTimes>): Record<string, ClassReport> {
  return Object.fromEntries(Array.from(classes, ([name, times]) => [String(name), classReportOf(times)]));
}
