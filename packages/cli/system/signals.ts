import { readFileSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { EXIT } from "./exit_codes.ts";
import { isForegroundWithoutShell } from "./foreground.ts";

/** Signals that ask a process to end. */
const ASKING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;
/** Other signals that end the process or make the runtime start a debugger, unless the process listens for them. */
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

/** Removes listeners that {@linkcode listenTo} added. */
type StopListening = () => void;

/**
 * Listens for signals that would end this process and leave its children running.
 *
 * @param interrupt Called when a signal asks the process to end.
 * @param kill Called when a signal would end the process immediately.
 * @returns A function that stops listening. After it is called, signals have their default effect again.
 */
export function onSignals(
  interrupt: (signal: NodeJS.Signals) => void,
  kill: (signal: NodeJS.Signals) => void,
): StopListening {
  const stops: StopListening[] = [];
  const listen = (signal: NodeJS.Signals, callback: (signal: NodeJS.Signals) => void) => {
    stops.push(listenTo(signal, callback));
  };
  const ignored = ignoredSignals();
  // Signals that this process ignores need a listener too: on Deno, as soon as the process listens for one signal in
  // `ASKING`, the others end the process unless it also listens for them.
  for (const signal of ASKING) listen(signal, ignored?.has(signal) ? () => {} : interrupt);
  for (const signal of ENDING) listen(signal, kill);
  // If SIGCHLD is ignored, the exit codes of children are lost unless there is a listener. A listener is also added if
  // it is unknown whether SIGCHLD is ignored. If SIGCHLD is not ignored, no listener is added, because a listener would
  // wake a thread for each child.
  if (ignored?.has("SIGCHLD") ?? true) listen("SIGCHLD", () => {});
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Listens for SIGTSTP, which Ctrl-Z in a terminal sends and which asks the process to stop.
 *
 * @param callback Called with each signal, except when no shell could continue the process. The process doesn't stop on
 * its own.
 * @returns A function that stops listening. After it is called, the signal has its default effect again.
 */
export function onSuspend(callback: () => void): StopListening {
  return ignoredSignals()?.has("SIGTSTP") ? () => {} : listenTo("SIGTSTP", () => {
    if (!isForegroundWithoutShell()) callback();
  });
}

/**
 * Stops this process. Resolves when SIGCONT has let the process continue, or if the process can't be stopped, as the
 * first process in a container.
 */
export async function stopThisProcess(): Promise<void> {
  process.kill(process.pid, "SIGSTOP");
  await delay(); // another thread might receive the signal, which stops this thread a moment later
}

function listenTo(signal: NodeJS.Signals, callback: (signal: NodeJS.Signals) => void): StopListening {
  const listener = () => callback(signal);
  try {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  } catch {
    return () => {}; // the system has no such signal, or a process can't listen for the signal
  }
}

/**
 * Listens for uncaught errors, such as an error in a plugin's timer. Without this function, an uncaught error would end
 * this process and leave its children running. The listeners are never removed, so an error after the run doesn't
 * change the run's result.
 *
 * @param callback Called with each error.
 */
export function onUncaught(callback: (error: unknown) => void): void {
  process.on("uncaughtException", callback).on("unhandledRejection", callback);
}

/**
 * Returns the signals that this process has ignored since its start, such as SIGHUP under `nohup`; `undefined` if the
 * system doesn't report them.
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
