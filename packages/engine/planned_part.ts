/** Part of a config in a plan. */
export interface PlannedPart {
  /** Kind of the part in the plan. */
  readonly kind: string;
  /** Type of the part in the config. */
  readonly type: string;
  /** JSON Pointer to the part in the config. */
  readonly path: string;
}
