import { readFileSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { EXIT } from "./exit_codes.ts";

/** What asks a process to end. */
const ASKING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;
/** What else ends a process unless it listens, or makes its runtime start a debugger. */
const ENDING = [
  "SIGQUIT",
  "SIGABRT",
  "SIGALRM",
  "SIGVTALRM",
  "SIGPROF",
  "SIGUSR1",
  "SIGUSR2",
  "SIGPWR",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGIO",
] as const;

/**
 * Listens to the signals that would end this process: the children would run on by themselves.
 *
 * @param interrupt Is called when a signal asks the process to end.
 * @param kill Is called when a signal ends it at once.
 * @returns Stops listening: from then on, signals do what they do by default.
 */
export function onSignals(
  interrupt: (signal: NodeJS.Signals) => void,
  kill: (signal: NodeJS.Signals) => void,
): () => void {
  const stops: (() => void)[] = [];
  const listen = (signal: NodeJS.Signals, callback: (signal: NodeJS.Signals) => void) => {
    const listener = () => callback(signal);
    try {
      process.on(signal, listener);
      stops.push(() => process.off(signal, listener));
    } catch {
      // There is no such signal on this system, or nobody may listen to it.
    }
  };
  const ignored = ignoredSignals();
  // One that is ignored needs a listener all the same: to listen to any makes Deno end the process at all of these.
  for (const signal of ASKING) listen(signal, ignored?.has(signal) ? () => {} : interrupt);
  for (const signal of ENDING) listen(signal, kill);
  // Where this one is ignored, or may be, how children end could not be told without a listener. Elsewhere there is none,
  // as it wakes a thread for each child.
  if (ignored?.has("SIGCHLD") ?? true) listen("SIGCHLD", () => {});
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Catches what nobody else does, such as an error in a timer of a plugin: it would end this process, and the children would
 * run on by themselves. To the end of the process: what comes when the run is over does not decide how it ended.
 *
 * @param callback Is called with each error.
 */
export function onUncaught(callback: (error: unknown) => void): void {
  process.on("uncaughtException", callback).on("unhandledRejection", callback);
}

/** Signals that are ignored from the start, as SIGHUP is by `nohup`; `undefined` where the system does not tell. */
function ignoredSignals(): Set<string> | undefined {
  try {
    const mask = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]}`);
    const ignored = Object.entries(constants.signals).filter(([_name, number]) => mask >> BigInt(number - 1) & 1n);
    return new Set(ignored.map(([name]) => name));
  } catch {
    return undefined;
  }
}

/** What a process exits with that a signal has ended, as shells say it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return EXIT.signal + (constants.signals[signal] ?? 0);
}
