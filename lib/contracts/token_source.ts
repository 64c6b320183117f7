/**
 * Source of the tokens without which a pool begins no attempt: a {@linkcode TokenBucket}, or an object with its
 * `reserve`.
 *
 * @internal
 */
export interface TokenSource {
  /** Takes tokens, from the future if need be. */
  reserve(n?: number): {
    /** Whether the tokens were granted. */
    readonly ok: boolean;
    /** How long to wait from now until the tokens may be used, in milliseconds; `Infinity` if they never come. */
    readonly delay: number;
    /** Gives the tokens back, as far as nobody counts on their being gone. */
    cancel(): void;
  };
}
