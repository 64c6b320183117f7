/** Concurrency throttle that all processes share. */
export interface PermitsPlan {
  /** Kind of the gate. */
  readonly kind: "permits";
  /** Identity of the throttle in the store. */
  readonly id: string;
  /** The limit: a throttle of this process, whose limit may change at any time, or the options. */
  readonly values: { readonly limit: number };
}

/** Token bucket that all processes share. */
export interface TokensPlan {
  /** Kind of the gate. */
  readonly kind: "tokens";
  /** Identity of the throttle in the store. */
  readonly id: string;
  /** Rate and burst: a bucket of this process, which may change at any time, or the options. */
  readonly values: { readonly rate: number; readonly burst: number };
  /** Whether an attempt takes as many tokens as it costs, and not always one. */
  readonly countsCosts: boolean;
}

/** Part of a throttle that all processes share. */
export type GatePlan = PermitsPlan | TokensPlan;

/** Request for permits. */
export interface PermitsRequest {
  /** Name of the process, unique for each gate. */
  readonly process: string;
  /** Duration of the lease on permits, in milliseconds. */
  readonly leaseMs: number;
  /** Limit of the throttle. */
  readonly limit: number;
  /** Number of the call. A repeated call has the same number, and gets the same reply. */
  readonly nth: number;
  /** Number of permits that the process has. */
  readonly using: number;
  /** Number of further permits that the process wants. */
  readonly wanted: number;
}

/** Reply to a {@linkcode PermitsRequest}. */
export interface PermitsReply {
  /** Number of further permits that the process now has. */
  readonly granted: number;
  /** Number of permits that nobody uses or waits for. */
  readonly left: number;
  /**
   * Milliseconds until permits of other processes may come back without a message. Missing if no such time is known.
   */
  readonly waitMs: number | undefined;
}

/** Request for tokens. */
export interface TokensRequest {
  /** Name of the process, unique for each gate. */
  readonly process: string;
  /** Tokens per second. May be infinite. */
  readonly rate: number;
  /** Largest number of tokens. */
  readonly burst: number;
  /** Number of tokens to take, possibly more than the bucket contains. A negative number of tokens is given back. */
  readonly charged: number;
  /** Number of tokens to take if the bucket contains at least this many. */
  readonly wanted: number;
  /** Longest time until the next call of a process that waits, in milliseconds. */
  readonly longestMs: number;
}

/** Reply to a {@linkcode TokensRequest}. */
export interface TokensReply {
  /** Number of tokens that the process has taken. */
  readonly granted: number;
  /** Milliseconds until the process can have its next token. Missing if all were granted, or no token will come. */
  readonly waitMs: number | undefined;
}

/**
 * Calls of a store for throttles that all processes share. An error that a call rejects with has a `mayHaveRun` of
 * `false` if the call certainly took no effect.
 */
export interface ThrottleStore {
  /**
   * Tells a concurrency throttle how many permits a process uses and how many more it wants, and grants some of these.
   * Each call replaces what the throttle knew of the process. May be repeated.
   */
  permits(id: string, request: PermitsRequest): Promise<PermitsReply>;
  /**
   * Takes tokens from a bucket. If the call is repeated, tokens are taken again, but not given back again. A token that
   * is there belongs to the process that waits longest.
   */
  tokens(id: string, request: TokensRequest): Promise<TokensReply>;
  /**
   * Calls `callback` when a permit is reserved for a process, and when messages may have been lost. Resolves to an
   * unsubscribe function.
   */
  listen(id: string, process: string, callback: () => void): Promise<() => void>;
  /** Calls `callback` each time a lost connection to the throttle is restored. Returns an unsubscribe function. */
  onReconnect(id: string, callback: () => void): () => void;
}
