/** What can go wrong with a connection, and how it is worded. */

import type { ErrorCode } from "@workqueue/core";

/**
 * The server cannot be reached, or the reply to a call was lost.
 *
 * @example Usage
 * ```ts
 * import { RedisConnectionError } from "@workqueue/redis";
 * import { assertEquals } from "@std/assert";
 *
 * function describe(error: unknown): string {
 *   if (!(error instanceof RedisConnectionError)) return "refused";
 *   return error.mayHaveRun ? "look whether it was done" : "not done";
 * }
 *
 * assertEquals(describe(new RedisConnectionError("Cannot reach Redis", { mayHaveRun: false })), "not done");
 * ```
 */
export class RedisConnectionError extends Error {
  /** The name of the class, as for every error. */
  override name = "RedisConnectionError";
  /** The code of every such error. */
  readonly code: "WQ_CONNECTION" = "WQ_CONNECTION" satisfies ErrorCode;
  /** Whether the call may have taken effect: nobody knows. Otherwise it has certainly not. */
  readonly mayHaveRun: boolean;

  /**
   * Makes the error, as `Error` does.
   *
   * @param message What could not be done.
   * @param options Whether the call may have taken effect, and the `cause`, if there is one.
   */
  constructor(message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(message, options);
    this.mayHaveRun = options.mayHaveRun;
  }
}

/**
 * Whether an error is what the server replied, and not one of the client or of the network. Replies begin with a code;
 * classes do not tell, as a client may come from another copy of its package.
 */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && !("code" in error) && /^[A-Z][A-Z0-9_]*( |$)/.test(error.message);
}

/** Whether the server does not know the script. */
export function isUnknownScript(error: Error): boolean {
  return error.message.startsWith("NOSCRIPT");
}

/**
 * The codes of replies that say that the server cannot be used for now. It runs no part of the script then: it checks
 * before the script, or before the first write of it.
 */
const AWAY = [
  ...["LOADING", "READONLY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN", "BUSY", "ERR max number of clients"],
  "NOREPLICAS", // fewer than `min-replicas-to-write`
  "MISCONF", // cannot write to its disk
];
const IS_AWAY = new RegExp(`^(${AWAY.join("|")})\\b`);

/** Whether a reply says that the server cannot be used now, and did nothing: it loads its data, is a replica, … */
export function isAway(error: Error): boolean {
  return IS_AWAY.test(error.message);
}

/** Whether trying to connect again is pointless until somebody changes something: a wrong password, no permission, … */
export function isHopeless(error: Error): boolean {
  return error.name === "NotCapable" || (isReply(error) && !isAway(error));
}

/** The error for a reply that sends the caller to another node of a cluster; `undefined` for any other reply. */
export function errorOfMove(address: string, reply: Error): RedisConnectionError | undefined {
  const [, node] = /^(?:MOVED|ASK) \d+ (\S+)/.exec(reply.message) ?? [];
  if (node === undefined) return undefined;
  const message =
    `Cannot use Redis at ${address}: it is a node of a cluster, and this queue's keys belong to node ${node}. ` +
    "Clusters are not supported yet: use a server that is not part of one";
  return new RedisConnectionError(message, { mayHaveRun: false, cause: reply });
}

/** Whatever was thrown, as an error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** What an error says. Of hosts with several addresses, what the attempt for each says. */
export function messageOf(error: Error): string {
  if (error.message !== "") return error.message;
  const { errors = [], code = error.name } = error as { errors?: unknown[]; code?: string };
  return [...new Set(errors.map((each) => toError(each).message))].join(", ") || code;
}

/** A length of time in words. */
export function inWords(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}
