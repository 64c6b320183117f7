import { setTimeout as delay } from "node:timers/promises";
import { toError } from "./errors.ts";

/** Milliseconds until the next server is asked too, if the previous one has not answered. */
const PATIENCE = 500;

/**
 * Asks servers one after another until one answers. A server that fails, or that is silent for half a second, doesn't
 * hold up the next one.
 *
 * @throws (as a rejection) If all servers fail. The error is that of the last server to fail.
 */
export async function firstAnswer<S, A>(
  servers: readonly S[],
  ask: (server: S, signal: AbortSignal) => Promise<A>,
  signal: AbortSignal,
): Promise<A> {
  const answered = new AbortController();
  const either = AbortSignal.any([signal, answered.signal]);
  let turn: Promise<unknown> = Promise.resolve();
  const attempts = servers.map((server) => {
    const attempt = turn.then(async () => {
      either.throwIfAborted();
      const answer = await ask(server, either);
      answered.abort();
      return answer;
    });
    const failed = attempt.catch(() => {});
    turn = turn.then(() => Promise.race([failed, delay(PATIENCE, undefined, { signal: either }).catch(() => {})]));
    return attempt;
  });
  try {
    return await Promise.any(attempts);
  } catch (error) {
    throw toError((error as AggregateError).errors.at(-1));
  }
}
