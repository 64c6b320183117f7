import { constants } from "node:os";
import process from "node:process";
import { EXIT } from "./exit_codes.ts";

/** What asks a process to end. */
const ASKING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;
/**
 * What else ends a process unless it listens. SIGUSR1 is not here, as it makes some runtimes start their debugger, and
 * others are for the runtimes' own use.
 */
const ENDING = ["SIGQUIT", "SIGABRT", "SIGALRM", "SIGVTALRM", "SIGUSR2", "SIGXCPU", "SIGXFSZ", "SIGIO"] as const;

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
  for (const signal of ASKING) listen(signal, interrupt);
  for (const signal of ENDING) listen(signal, kill);
  return () => {
    for (const stop of stops) stop();
  };
}

/** What a process exits with that a signal has ended, as shells say it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return EXIT.signal + (constants.signals[signal] ?? 0);
}
