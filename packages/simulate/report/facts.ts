import type { Change } from "../load/kinds.ts";
import type { OutageReport } from "../run/outages.ts";
import { formatCount, formatShare, formatTime } from "./format.ts";
import type { SimulationReport } from "./report.ts";

/** Utilization from which on waits become long. */
const HIGH_UTILIZATION = 0.9;
/** Share of retries that is remarkable. */
const MANY_RETRIES = 0.2;

/** Returns the remarkable facts of a report, each as a sentence. */
export function factsOf(report: Omit<SimulationReport, "facts">, missedChanges: readonly Change[]): string[] {
  return [
    ...arrivalFacts(report),
    ...report.outages.map((outage) => outageFact(outage, report.duration)),
    ...missedChanges.map((change) => missedFact(change, report.duration)),
    ...unfinishedFacts(report),
    ...loadFacts(report),
    ...waitFacts(report),
  ];
}

/** Says why a report has no times. */
function arrivalFacts({ arrivals, attempts, waits }: Omit<SimulationReport, "facts">): string[] {
  if (arrivals === 0) return ["No item arrived."];
  return attempts > 0 && waits.count === 0
    ? ["Every item arrived in the warm-up, so there are no waits and totals."]
    : [];
}

function outageFact(
  { from, to, state, backlog, goneAt, meanwhile: { attempts, retries } }: OutageReport,
  duration: number,
): string {
  if (state !== "ended") {
    const what = state === "not begun" ? "begun" : "ended";
    return `The outage at ${formatTime(from)} had not ${what} when the simulation ended, at ${formatTime(duration)}.`;
  }
  const begin = `The backlog of the outage at ${formatTime(from)}`;
  if (backlog === 0) return `${begin} is gone when it ends.`;
  const share = attempts === 0 ? "" : `; retries are ${formatShare(retries / attempts)} of all attempts meanwhile`;
  return goneAt === undefined
    ? `${begin} is not gone by the end of the simulation${share}.`
    : `${begin} is gone at ${formatTime(goneAt)}, ${formatTime(goneAt - to)} after it ended${share}.`;
}

function missedFact({ at, action: { type } }: Change, duration: number): string {
  const change = type === "concurrency" ? "change of concurrency" : type;
  const reason = at > duration ? `the simulation ended at ${formatTime(duration)}` : "a deploy had not ended";
  return `The ${change} at ${formatTime(at)} was not carried out: ${reason}.`;
}

function unfinishedFacts({ unfinished, lost, givenUp, succeeded }: Omit<SimulationReport, "facts">): string[] {
  const facts: string[] = [];
  if (unfinished > 0) facts.push(`${items(unfinished)} had not ended when the simulation was stopped.`);
  if (lost > 0) facts.push(`${items(lost)} ${wasOrWere(lost)} lost in a deploy.`);
  if (givenUp > 0) {
    const share = formatShare(givenUp / (succeeded + givenUp + lost + unfinished));
    facts.push(`${items(givenUp)} ${wasOrWere(givenUp)} given up, ${share} of all items.`);
  }
  return facts;
}

function loadFacts({ utilization, attempts, retries, outages }: Omit<SimulationReport, "facts">): string[] {
  const facts: string[] = [];
  if (utilization > HIGH_UTILIZATION) {
    facts.push(
      `The workers are busy ${formatShare(utilization)} of the time; a small increase of the load makes waits long.`,
    );
  }
  if (outages.length === 0 && retries > attempts * MANY_RETRIES) {
    facts.push(`Retries are ${formatShare(retries / attempts)} of all attempts.`);
  }
  return facts;
}

function waitFacts({ worst: { wait, backlog }, waits }: Omit<SimulationReport, "facts">): string[] {
  if (waits.count === 0 || wait.value < 1000) return [];
  return [
    `The longest wait, ${formatTime(wait.value)}, ends at about ${formatTime(wait.at)}; ` +
    `the largest backlog is ${items(backlog.value)}, at about ${formatTime(backlog.at)}.`,
  ];
}

function wasOrWere(count: number): string {
  return count === 1 ? "was" : "were";
}

function items(count: number): string {
  return count === 1 ? "1 item" : `${formatCount(count)} items`;
}
