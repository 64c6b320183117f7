/** Connection errors and their messages. */

import type { ErrorCode } from "@workqueue/core";

/**
 * Error for a call that could not reach the server, or whose reply was lost.
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
  /** Name of the class. */
  override name = "RedisConnectionError";
  /** Error code. Always `"WQ_CONNECTION"`. */
  readonly code: "WQ_CONNECTION" = "WQ_CONNECTION" satisfies ErrorCode;
  /** Whether the call may have taken effect. If `false`, the call certainly has not taken effect. */
  readonly mayHaveRun: boolean;

  /**
   * Creates the error.
   *
   * @param message The failed action and the reason.
   * @param options Whether the call may have taken effect (`mayHaveRun`), and the `cause`, if there is one.
   */
  constructor(message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(message, options);
    this.mayHaveRun = options.mayHaveRun;
  }
}

/**
 * Reports whether an error is an error reply from the server, not a client or network error. Error replies begin with a
 * code. The error's class can't be checked, because the client may come from another copy of its package.
 */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && !("code" in error) && /^[A-Z][A-Z0-9_]*( |$)/.test(error.message);
}

/** Reports whether the reply means that the server doesn't have the script. */
export function isUnknownScript(error: Error): boolean {
  return error.message.startsWith("NOSCRIPT");
}

/**
 * Codes of error replies from a server that temporarily can't be used. A script that gets such a reply has written
 * nothing: the server checks these conditions before the script starts or before its first write.
 */
const AWAY = [
  ...["LOADING", "READONLY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN", "BUSY", "ERR max number of clients"],
  "NOREPLICAS", // fewer replicas than `min-replicas-to-write`
  "MISCONF", // the server can't write to its disk
  ...["MOVED", "ASK"], // the key's slot is on another node of the cluster, or is being moved there
];
const IS_AWAY = new RegExp(`^(${AWAY.join("|")})\\b`);

/**
 * Reports whether an error reply means that the server temporarily can't be used. A script that gets such a reply has
 * written nothing.
 */
export function isAway(error: Error): boolean {
  return IS_AWAY.test(error.message);
}

/** Causes of refused TLS connections, by the code of the error. Codes and messages differ between runtimes. */
const TLS_CAUSES: readonly [code: RegExp, cause: string][] = [
  [/ALERT_CERTIFICATE_REQUIRED$/, "the server requires a client certificate: set 'tls.cert' and 'tls.key'"],
  [/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+)$/, "the server does not accept the certificate in 'tls.cert'"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF)\w+)$/,
    "the server's certificate is not signed by a trusted authority: set 'tls.ca'",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "the server's certificate is for another host: set 'tls.servername' to one of its names",
  ],
];

function tlsCauseOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return TLS_CAUSES.find(([pattern]) => typeof code === "string" && pattern.test(code))?.[1];
}

/** Reports whether reconnecting is pointless until a person fixes the cause, such as a wrong password. */
export function isHopeless(error: Error): boolean {
  return error.name === "NotCapable" || (isReply(error) && !isAway(error)) || tlsCauseOf(error) !== undefined;
}

/** Returns the node to which a `MOVED` reply redirects. Returns `undefined` for any other error. */
export function movedTo(error: Error): { host: string; port: number } | undefined {
  const [, host, port] = /^MOVED \d+ (\S+):(\d+)$/.exec(error.message) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

/** Reports whether an error reply means that a cluster is moving the slot of the key. */
export function isMoving(error: Error): boolean {
  return /^(ASK|TRYAGAIN) /.test(error.message);
}

/** Returns the error for a reply that redirects to another cluster node. Returns `undefined` for any other reply. */
export function errorOfMove(address: string, reply: Error): RedisConnectionError | undefined {
  const [, node] = /^(?:MOVED|ASK) \d+ (\S+)/.exec(reply.message) ?? [];
  if (node === undefined) return undefined;
  const message =
    `Cannot use Redis at ${address}: it is a node of a cluster, and this queue's keys belong to node ${node}. ` +
    "Use the option 'cluster' instead of 'url' or 'client'";
  return new RedisConnectionError(message, { mayHaveRun: false, cause: reply });
}

/** Reports whether the reply means that the server doesn't know the first line of scripts with flags. */
export function isUnknownHeader(error: Error): boolean {
  return /^ERR .*unexpected symbol near '#'/.test(error.message);
}

/** Converts a thrown value to an error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns an error's message. If several addresses of a host failed, returns the messages for all addresses. */
export function messageOf(error: Error): string {
  const cause = tlsCauseOf(error);
  if (cause !== undefined) return cause;
  if (/cluster support disabled$/.test(error.message)) {
    return "it is not a node of a cluster. Use the option 'url' instead of 'cluster'";
  }
  if (error.message !== "") return error.message;
  const { errors = [], code = error.name } = error as { errors?: unknown[]; code?: string };
  return [...new Set(errors.map((each) => toError(each).message))].join(", ") || code;
}

/** Formats a duration, such as `"5 s"` or `"200 ms"`. */
export function inWords(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}
