/**
 * Source of the tokens that a pool takes before each attempt: a {@linkcode TokenBucket}, or an object with its
 * `reserve`.
 *
 * @internal
 */
export interface TokenSource {
  /** Takes `n` tokens (default: 1), from the future if necessary. */
  reserve(n?: number): {
    /** Whether the tokens were granted. */
    readonly ok: boolean;
    /** Time from now until the tokens may be used, in milliseconds; `Infinity` for never. */
    readonly delay: number;
    /** Returns the tokens, except those that later reservations rely on. */
    cancel(): void;
  };
}
