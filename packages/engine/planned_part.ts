import type {
  ConfigIssue,
  DisciplineDescription,
  LimiterDescription,
  ThrottleDescription,
  ValueOf,
} from "@workqueue/core";

/** Part of a config in a plan. */
export interface PlannedPart {
  /** Kind of the part in the plan. */
  readonly kind: string;
  /** Type of the part in the config. */
  readonly type: string;
  /** JSON Pointer to the part in the config. */
  readonly path: string;
}

/** Options of a built-in part in its description, from the declarations of its options. */
export type DescribedOptions<Options> = { readonly [Option in keyof Options]: DescribedOption<Options[Option]> };

type DescribedOption<F> =
  | (F extends { kind: "limiter" } ? LimiterDescription
    : F extends { kind: "limiters" } ? readonly LimiterDescription[]
    : F extends { kind: "discipline" } ? DisciplineDescription
    : F extends { kind: "throttles" } ? readonly ThrottleDescription[]
    : F extends { kind: "weights" } ? Readonly<Record<string, number>>
    : ValueOf<F>)
  | (F extends { required: false } ? undefined : never);

/** Refuses options that a plan leaves out. An option of the core that no plan names is a type error. */
export function refuseOthers(
  { path, type }: { readonly path: string; readonly type: string },
  others: Readonly<Record<string, never>>,
  issues: ConfigIssue[],
): void {
  for (const option in others) {
    const message = `'${option}' of ${JSON.stringify(type)} is for queues in memory`;
    issues.push({ path: `${path}/${option}`, message });
  }
}
