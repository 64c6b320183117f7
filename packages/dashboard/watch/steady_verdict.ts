import { formatDuration } from "@workqueue/core/internal";
import type { Verdict } from "../api.ts";
import type { Judgement } from "./verdict.ts";

/** Time for which a better verdict must hold before it is shown, in milliseconds: two recent periods. */
const BETTER_AFTER = 10_000;

/** Verdicts between which a queue moves by itself, worst first. The others depend on acts of users. */
const SCALE: readonly Verdict[] = ["stuck", "failing", "busy", "healthy"];

/**
 * Verdict that doesn't jump: the worst one of the last seconds. A worse verdict is shown at once, because its rule has
 * looked at a period. A better one is shown after it has held for some time.
 */
export class SteadyVerdict {
  /** Judgements of the last seconds, the oldest first. */
  #recent: { readonly judgement: Judgement; readonly at: number }[] = [];

  /** Returns the judgement to show at the time `now`, on the monotonic clock. */
  next(judgement: Judgement, now: number): Judgement {
    if (!SCALE.includes(judgement.verdict)) {
      this.#recent = [];
      return judgement;
    }
    this.#recent = this.#recent.filter(({ at }) => now - at < BETTER_AFTER);
    this.#recent.push({ judgement, at: now });
    let worst = { judgement, at: now };
    for (const one of this.#recent) if (rankOf(one.judgement) <= rankOf(worst.judgement)) worst = one;
    if (worst.judgement.verdict === judgement.verdict) return judgement;
    const { verdict, guide, reason } = worst.judgement;
    const before = formatDuration(Math.max(1, Math.round((now - worst.at) / 1000)) * 1000);
    return { verdict, guide, reason: `${judgement.reason} Better since ${before} ago; before that: ${reason}` };
  }
}

function rankOf({ verdict }: Judgement): number {
  return SCALE.indexOf(verdict);
}
