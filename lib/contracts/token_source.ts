/**
 * Token bucket, as far as pools and queues use it: a {@linkcode TokenBucket}, possibly from another copy of this
 * package.
 *
 * @internal
 */
export interface TokenSource {
  /** Takes `n` tokens (default: 1), including future tokens if necessary. */
  reserve(n?: number): {
    /** Whether the tokens were granted. */
    readonly ok: boolean;
    /** Time from now until the tokens may be used, in milliseconds; `Infinity` for never. */
    readonly delay: number;
    /** Gives back the tokens, except tokens that later reservations rely on. */
    cancel(): void;
  };
}
