/** Limiter whose config changes while it is in use, in the way that a reload changes it. */

import type {
  BuildContext,
  LimiterConfig,
  LimiterDescription,
  LimiterFields,
  LimiterOptions,
  RateLimiter,
  Template,
} from "@workqueue/core";
import { limiters } from "@workqueue/core";
import { type PartContext, partContextOf } from "@workqueue/core/internal/registry";

/** Context whose members throw. Passed to `update`, which must keep the limiter's own clock and random numbers. */
const OF_NO_USE: PartContext = {
  clock: { now: () => never("now"), setTimeout: () => never("setTimeout"), clearTimeout: () => never("clearTimeout") },
  random: () => never("random"),
};

function never(method: string): never {
  throw new Error(`The context of an update was asked for ${method}`);
}

/** Config, or the description that a registry derives from it. */
export type Config = LimiterConfig | LimiterDescription;

export class UpdatedLimiter {
  readonly limiter: RateLimiter;
  readonly #context: BuildContext;
  #description: LimiterDescription;
  /** Inner limiters, by option. */
  readonly #parts = new Map<string, UpdatedLimiter>();
  /** Limiters made by the template option. */
  readonly #made = new Map<RateLimiter, UpdatedLimiter>();

  constructor(config: Config, context: BuildContext) {
    this.#context = context;
    this.#description = describe(config);
    this.limiter = this.#description.definition().create(this.#optionsOf(this.#description), partContextOf(context));
  }

  /** Updates the limiter to another config of the same type. */
  update(config: Config): void {
    this.#description = describe(config);
    this.#description.definition().update!(this.limiter, this.#optionsOf(this.#description), OF_NO_USE);
  }

  #optionsOf({ options }: LimiterDescription): LimiterOptions<LimiterFields> {
    return Object.fromEntries(
      Object.entries(options).map(([option, value]) => {
        if (Array.isArray(value)) {
          const each = (item: unknown, i: number) => isDescription(item) ? this.#part(`${option} ${i}`, item) : item;
          return [option, value.map(each)];
        }
        if (!isDescription(value)) return [option, value];
        return [option, value.template ? this.#template(value) : this.#part(option, value)];
      }),
    ) as LimiterOptions<LimiterFields>;
  }

  #part(place: string, description: LimiterDescription): RateLimiter {
    const live = this.#upToDate(this.#parts.get(place), description);
    this.#parts.set(place, live);
    return live.limiter;
  }

  #template(description: LimiterDescription): Template<RateLimiter> {
    const make = (old?: UpdatedLimiter) => {
      const live = this.#upToDate(old, description);
      this.#made.set(live.limiter, live);
      return live.limiter;
    };
    return Object.assign(() => make(), { update: (limiter: RateLimiter) => make(this.#made.get(limiter)) });
  }

  /** Returns the limiter of an option: the updated old limiter if the type is unchanged, otherwise a new limiter. */
  #upToDate(old: UpdatedLimiter | undefined, description: LimiterDescription): UpdatedLimiter {
    if (old === undefined || old.#description.type !== description.type) {
      return new UpdatedLimiter(description, this.#context);
    }
    old.update(description);
    return old;
  }
}

function describe(config: Config): LimiterDescription {
  return isDescription(config) ? config : limiters.describe(config);
}

function isDescription(value: unknown): value is LimiterDescription {
  return typeof value === "object" && value !== null && "definition" in value;
}
