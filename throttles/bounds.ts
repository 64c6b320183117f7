import type { BrokenRule } from "../registry/definition.ts";

/** Option with the smallest limit. */
export const minField = { kind: "integer", min: 1, default: 1, description: "Smallest limit." } as const;

/** Option with the largest limit. */
export const maxField = { kind: "integer", min: 1, description: "Largest limit." } as const;

/** Option with the initial limit. */
export const initialField = {
  kind: "integer",
  min: 1,
  required: false,
  description: "Initial limit. Default: the smallest limit.",
} as const;

/** Checks that the bounds of an adaptive limit don't contradict each other. */
export function checkBounds(
  { min, max, initial = min }: { readonly min: number; readonly max: number; readonly initial?: number | undefined },
): BrokenRule | undefined {
  if (max < min) return { option: "max", rule: "must not be less than 'min'" };
  return initial >= min && initial <= max ? undefined : { option: "initial", rule: "must be between 'min' and 'max'" };
}
