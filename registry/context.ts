import { A_CLOCK, A_FUNCTION, requireRules } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { Random } from "../lib/base/random.ts";

/** What parts are built with beside their options. */
export interface BuildContext {
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  readonly clock?: Clock | undefined;
  /**
   * Where random numbers come from: from 0 up to 1.
   *
   * @default {Math.random}
   */
  readonly random?: Random | undefined;
}

/** Refuses a context with a member that is unknown or of the wrong type. */
export function requireContext(action: string, context: BuildContext): void {
  requireRules(action, context, { clock: A_CLOCK, random: A_FUNCTION });
}
