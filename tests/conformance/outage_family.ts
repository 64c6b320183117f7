import type { LimiterConfig } from "@workqueue/core";
import { courseOf, type Outage } from "../limiters/outage.ts";
import type { LimiterSpec, Trace } from "./trace.ts";

/**
 * Replays an outage with events. The attempts begin at the recorded times. With `ignore-early`, the key works again as
 * soon as without events, give or take the length of the attempts (rule 17), and with `fold` there are no more attempts
 * than without events.
 */
export async function replayOutage(trace: Trace): Promise<void> {
  const limiter = configOf(trace.limiter());
  trace.operation();
  const [duration, interval, lasts] = [trace.next() / 1e6, trace.next() / 1e6 || Infinity, trace.next() / 1e6];
  const outage: Outage = { limiter, addWhileDelayed: "keep", duration, interval, hasLaterEvents: false, lasts };
  const { attempts } = await courseOf(outage);
  trace.same("number of attempts", attempts.length);
  for (const at of attempts) trace.same("time of an attempt in ns", at * 1e6);

  const without = await courseOf({ ...outage, interval: Infinity });
  const ignoring: Outage = { ...outage, limiter: { type: "ignore-early", limiter } };
  const latest = without.endedAt! + without.attempts.length * lasts;
  const improved = await courseOf(ignoring);
  if (improved.endedAt! > latest) trace.fail("time of the success with ignore-early", improved.endedAt, latest);
  if (attempts.at(-1)! + lasts > latest) trace.except("events-inflate-the-backoff");

  const folded = await courseOf({ ...ignoring, addWhileDelayed: "fold" });
  trace.equal("attempts with fold", folded.attempts.length, without.attempts.length);
  if (attempts.length > without.attempts.length) trace.except("events-start-attempts");
}

function configOf([kind, ...made]: LimiterSpec): LimiterConfig {
  const ms = (index: number) => made[index] as number / 1e6;
  switch (kind) {
    case "exponential":
      return { type: "exponential", baseDelay: ms(0), maxDelay: ms(1) };
    case "fast-slow":
      return { type: "fast-slow", fastDelay: ms(0), slowDelay: ms(1), maxFastAttempts: made[2] as number };
    case "max-wait":
      return { type: "max-wait", limiter: configOf(made[0] as LimiterSpec), maxDelay: ms(1) };
    default:
      throw new Error(`Cannot build a limiter of kind ${kind}`);
  }
}
