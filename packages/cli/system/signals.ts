import { readFileSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { EXIT } from "./exit_codes.ts";

/** Signals that ask a process to end. */
const ASKING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;
/** Other signals that end a process without a listener, or make its runtime start a debugger. */
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
 * Listens for signals that would end this process and leave its children running.
 *
 * @param interrupt Called when a signal asks the process to end.
 * @param kill Called when a signal would end the process immediately.
 * @returns A function that stops listening. Signals then have their default effect again.
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
      // The system has no such signal, or a process can't listen to it.
    }
  };
  const ignored = ignoredSignals();
  // Ignored signals also need a listener. On Deno, a listener for one of these signals makes the others end the
  // process.
  for (const signal of ASKING) listen(signal, ignored?.has(signal) ? () => {} : interrupt);
  for (const signal of ENDING) listen(signal, kill);
  // If SIGCHLD is ignored or may be, the exit codes of children are lost without a listener. Otherwise, no listener is
  // added because it would wake a thread for each child.
  if (ignored?.has("SIGCHLD") ?? true) listen("SIGCHLD", () => {});
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Catches errors that nothing else catches, for example in a timer of a plugin. They would end this process and leave
 * its children running. The listeners are never removed, so an error after the run doesn't change its result.
 *
 * @param callback Called with each error.
 */
export function onUncaught(callback: (error: unknown) => void): void {
  process.on("uncaughtException", callback).on("unhandledRejection", callback);
}

/**
 * Returns the signals that the process was started to ignore, such as SIGHUP with `nohup`; `undefined` if the system
 * doesn't report them.
 */
function ignoredSignals(): Set<string> | undefined {
  try {
    const mask = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]}`);
    const ignored = Object.entries(constants.signals).filter(([_name, number]) => mask >> BigInt(number - 1) & 1n);
    return new Set(ignored.map(([name]) => name));
  } catch {
    return undefined;
  }
}

/** Returns the exit code that shells use for a process ended by a signal. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return EXIT.signal + (constants.signals[signal] ?? 0);
}
