/** Lines of a history: calls of engines, their replies, and events that tests note beside them. */

import type { FinishAnswer, FinishKind } from "@workqueue/engine";

/** Call of an engine, as far as checkers need it. Durations are in milliseconds. */
export type Call =
  | { readonly do: "add"; readonly rows: readonly AddedRow[] }
  | {
    readonly do: "turn";
    readonly owner: string;
    readonly lease: number;
    readonly wanted: number;
    readonly bucket?: { readonly id: string; readonly rate: number; readonly burst: number } | undefined;
    readonly finishes: readonly FinishedRow[];
  }
  | { readonly do: "renew"; readonly owner: string; readonly lease: number }
  | { readonly do: "release"; readonly owner: string; readonly known: readonly string[] }
  | { readonly do: "leave"; readonly owner: string }
  | { readonly do: "cancel" | "promote" | "addLimited"; readonly key: string }
  | { readonly do: "redrive" | "discard" }
  | { readonly do: "pause"; readonly group?: string; readonly duration: number }
  | { readonly do: "resume"; readonly group?: string };

/** Added key, with its delay and its priority. */
export type AddedRow = readonly [key: string, delay: number, priority: number];
/** Finished key, with the delay of `requeueAfter`. */
export type FinishedRow = readonly [key: string, token: string, kind: FinishKind, delay: number];

/** Reply to a call. Fields that the call doesn't have are missing. */
export interface Reply {
  readonly taken?: readonly (readonly [key: string, token: string, priority: number])[];
  readonly answers?: readonly FinishAnswer[];
  readonly givenUp?: readonly string[];
  readonly isLost?: boolean;
  /** Reply to `renew`, `cancel`, `promote`, `addLimited` and the pause of a group. */
  readonly isSo?: boolean;
}

/**
 * Line of a history. `at` is a time in milliseconds. `call` is the number of a call, and `reply` and `failed` are the
 * number of the call that was answered or that failed.
 */
export type Line =
  & { readonly at: number }
  & (
    | { readonly call: number } & Call
    | { readonly reply: number } & Reply
    | { readonly failed: number; readonly mayHaveRun: boolean }
  );

/** Function that writes a line. */
export type Write = (line: Line) => void;
