import { A_CLOCK } from "../lib/base/arguments.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { PartContext } from "../registry/definition.ts";
import type { Field } from "../registry/fields.ts";
import { durationKind } from "../registry/option_kinds.ts";
import type { KindsOf } from "../registry/options_in_code.ts";
import { createLimiter, type LimiterDefinition, type LimiterFields } from "./definition.ts";
import { ExpiringCounts } from "./expiring_counts.ts";
import type { FailureLimiter } from "./failures.ts";

/** Option `forgetAfter`, which only code has: in a document, it is an option of the queue. */
const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "Time from the end of an item's last delay until its failures are forgotten.",
} as const satisfies Field;

/** Creates a limiter that counts failures, from options given in code. */
export function createCounting<F extends LimiterFields>(
  definition: LimiterDefinition<string, F>,
  kinds: KindsOf<F>,
  options: object,
): RateLimiter {
  return createForgetting(definition, kinds, options, forgetAfterField, (made, forgetAfter, { clock }) => {
    if (forgetAfter !== undefined) (made as FailureLimiter).countWith(new ExpiringCounts(forgetAfter, clock));
  });
}

/**
 * Creates a limiter from options given in code, among them `forgetAfter`.
 *
 * @param use Passes `forgetAfter` to the limiter.
 */
export function createForgetting<F extends LimiterFields>(
  definition: LimiterDefinition<string, F>,
  kinds: KindsOf<F>,
  options: object,
  forgetAfter: Field,
  use: (made: RateLimiter, forgetAfter: number | undefined, context: PartContext) => void,
): RateLimiter {
  const withForgetAfter = {
    ...definition,
    options: { ...definition.options, forgetAfter } as LimiterFields,
    create(options: { readonly forgetAfter?: number }, context: PartContext) {
      const limiter = definition.create(options as never, context);
      use(limiter, options.forgetAfter, context);
      return limiter;
    },
  } as LimiterDefinition;
  const allKinds = { ...kinds, duration: durationKind } as KindsOf<LimiterFields>;
  return createLimiter(withForgetAfter, allKinds, options, { clock: A_CLOCK });
}
