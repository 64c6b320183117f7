/** Checker of random runs: compares a history with what a controller promises. */

import type { Stored } from "../admin.ts";
import type { ControllerEvent } from "../controller_process.ts";
import { faultsOf } from "../greetings.ts";
import { overlaps } from "../overlaps.ts";
import type { History } from "./history.ts";

/** Attempts at one object that need no action: one for each start, and a few in which a fault struck. */
const ATTEMPTS_PER_ACTION = 4;
const ATTEMPTS_PER_FAULT = 4;
/** Programming errors, which no fault of the network explains. */
const OWN_ERROR = /TypeError|RangeError|ReferenceError|is not a function|undefined \(reading|Cannot read prop/;

/** Returns a line for each broken promise. */
export function check(history: History): string[] {
  const { end: [configMaps, secrets] } = history;
  return [
    ...faultsOf(configMaps, secrets),
    ...changedAfterwards(history),
    ...wrongCaches(history),
    ...history.processes.flatMap(({ events }, i) =>
      [
        ...attemptsAtOnce(events),
        ...staleAttempts(events, history),
        ...errors(events),
      ].map((fault) => `process ${i}: ${fault}`)
    ),
    ...notCleanedUp(history),
    ...reconciledAfterCleanup(history),
    ...tooManyAttempts(history),
    ...overlaps(history.processes.filter(({ wasFrozen }) => !wasFrozen).map(({ events }) => events)),
    ...sharedAttempts(history),
  ];
}

function versionsOf([configMaps, secrets]: readonly [Stored[], Stored[]]): Map<string, string> {
  return new Map(
    [["configmaps", configMaps] as const, ["secrets", secrets] as const].flatMap(([type, objects]) =>
      objects.map((
        { metadata: { namespace, name, resourceVersion } },
      ) => [`${type}/${namespace}/${name}`, resourceVersion])
    ),
  );
}

/** A controller that is in order writes nothing. */
function changedAfterwards({ end, later }: History): string[] {
  const before = versionsOf(end);
  return [...versionsOf(later)].filter(([key, version]) => before.get(key) !== version)
    .map(([key]) => `${key} changed although everything was in order`);
}

/** Returns the differences between caches and the stored objects. */
export function wrongCaches({ later, cached }: Pick<History, "later" | "cached">): string[] {
  const stored = versionsOf(later);
  return cached.flatMap((versions, i) => {
    const keys = new Set([...stored.keys(), ...Object.keys(versions)]);
    return [...keys].filter((key) => stored.get(key) !== versions[key])
      .map((key) => `cache ${i} has ${key} at ${versions[key]}, not ${stored.get(key)}`);
  });
}

function attemptsAtOnce(events: readonly ControllerEvent[]): string[] {
  const running = new Set<string>();
  const faults: string[] = [];
  for (const { event, key } of events) {
    if (event === "begin" && running.has(key!)) faults.push(`two attempts at ${key} at once`);
    if (event === "begin") running.add(key!);
    if (event === "end") running.delete(key!);
  }
  return faults;
}

/** An attempt must not see an older version of an object than an earlier attempt, or than its own process wrote. */
function staleAttempts(events: readonly ControllerEvent[], { faults: struck }: History): string[] {
  if (struck.includes("restore")) return []; // versions go back
  const latest = new Map<string, bigint>();
  const faults: string[] = [];
  for (const { event, key, uid, version } of events) {
    if (uid === undefined || (event !== "begin" && event !== "wrote")) continue;
    const seen = latest.get(uid) ?? 0n;
    const now = BigInt(version!);
    if (event === "begin" && now < seen) faults.push(`an attempt at ${key} saw version ${version} after ${seen}`);
    if (now > seen) latest.set(uid, now);
  }
  return faults;
}

function errors(events: readonly ControllerEvent[]): string[] {
  const own = events.filter(({ event, message }) => event === "error" && OWN_ERROR.test(message!));
  const ended = events.filter(({ event, message, code }) =>
    event === "ended" && message !== undefined && code !== "WQ_LEASE_LOST"
  );
  return [...own.map(({ message }) => `error: ${message}`), ...ended.map(({ message }) => `ended: ${message}`)];
}

function notCleanedUp({ actions, processes, faults }: History): string[] {
  if (faults.includes("restore")) return []; // a deletion may be undone
  const cleaned = new Set(
    processes.flatMap(({ events }) => events.filter(({ event }) => event === "cleaned")).map(({ uid }) => uid),
  );
  return actions.filter(({ cleanedUp }) => cleanedUp !== undefined && !cleaned.has(cleanedUp))
    .map(({ key, cleanedUp }) => `${key} with uid ${cleanedUp} was deleted without a cleanup`);
}

function reconciledAfterCleanup({ processes, faults: struck }: History): string[] {
  if (struck.includes("restore")) return [];
  return processes.flatMap(({ events }, i) => {
    const cleaned = new Set<string>();
    const faults: string[] = [];
    for (const { event, key, uid } of events) {
      if (event === "cleaned") cleaned.add(uid!);
      if (event === "begin" && cleaned.has(uid!)) faults.push(`process ${i}: an attempt at ${key} after its cleanup`);
    }
    return faults;
  });
}

function tooManyAttempts({ actions, processes, faults }: History): string[] {
  const counts = new Map<string, number>();
  for (const { events } of processes) {
    for (const { event, key } of events) {
      if (event === "begin" || event === "cleanup") counts.set(key!, (counts.get(key!) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([key, count]) => {
    const done = actions.filter((action) => action.key === key).length;
    const most = ATTEMPTS_PER_ACTION * (done + processes.length) + ATTEMPTS_PER_FAULT * faults.length;
    return count > most ? [`${count} attempts at ${key}, for ${done} actions`] : [];
  });
}

/** Two processes must not work on one object at the same time, unless one stood still. */
function sharedAttempts({ processes }: History): string[] {
  interface Span {
    readonly process: number;
    readonly key: string;
    readonly from: number;
    readonly to: number;
  }
  const spans: Span[] = [];
  processes.forEach(({ events, wasFrozen }, process) => {
    if (wasFrozen) return;
    const begun = new Map<string, number>();
    for (const { event, key, at } of events) {
      if (event === "begin") begun.set(key!, at);
      if (event === "end") spans.push({ process, key: key!, from: begun.get(key!) ?? at, to: at });
    }
  });
  spans.sort((a, b) => a.from - b.from);
  const last = new Map<string, Span>();
  const faults: string[] = [];
  for (const span of spans) {
    const before = last.get(span.key);
    if (before !== undefined && before.process !== span.process && before.to > span.from) {
      faults.push(`processes ${before.process} and ${span.process} worked on ${span.key} at once`);
    }
    if (before === undefined || span.to > before.to) last.set(span.key, span);
  }
  return faults;
}
