import { A_NON_NEGATIVE_INTEGER, A_SIGNAL, isSignal, requireRules } from "../base/arguments.ts";
import type { SnapshotOptions } from "../contracts/work_queue.ts";

/** The signal among the options of a call that waits. */
export function signalOf(
  action: string,
  options: { signal?: AbortSignal | undefined } | undefined,
): AbortSignal | undefined {
  if (options === undefined || isSignal(options?.signal)) return options?.signal;
  requireRules(action, options, { signal: A_SIGNAL });
  return undefined;
}

/** The limit among the options of a snapshot. */
export function limitOf(options: SnapshotOptions = {}): number {
  requireRules("make snapshot", options, { limit: A_NON_NEGATIVE_INTEGER });
  return options.limit ?? 100;
}
