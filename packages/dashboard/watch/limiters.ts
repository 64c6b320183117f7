import type { LimiterDescription, RateLimiter, TokenBucket, WorkQueueConfig } from "@workqueue/core";
import type { Bucket, LimiterNode } from "../api.ts";
import { optionsOf } from "./descriptions.ts";

/** Limiters of a queue, as defined in a config. */
export interface Limits {
  /** Returns the tree of the queue's limiter, with the current tokens of its buckets. */
  tree(): LimiterNode;
  /**
   * Returns the path of the limiter that decided an item's delay; `null` if unknown. `ago` is the time since the last
   * failure and `dueInMs` the time until the item is due, in milliseconds.
   */
  decidedBy(attempts: number, ago: number | null, dueInMs: number | null): string | null;
  /** Separator that ends the first part of each key, if the queue's discipline or limiter groups keys. */
  readonly separator: string | undefined;
}

/** Returns the limits of a queue; `undefined` if the config doesn't contain the queue. */
export function limitsOf(config: WorkQueueConfig | undefined, queue: string): Limits | undefined {
  if (config === undefined || !config.queueNames.includes(queue)) return undefined;
  const { limiter, discipline } = config.describe(queue);
  const root = nodeOf(limiter, config);
  const separator = discipline?.options["separator"] ?? separatorIn(root);
  return {
    tree: () => show(root),
    decidedBy: (attempts, ago, dueInMs) => decidedBy(root, attempts, ago, dueInMs),
    separator: typeof separator === "string" ? separator : undefined,
  };
}

/** Returns the data of a bucket in this process. */
export function showBucket(bucket: TokenBucket): Bucket {
  const { rate, burst, tokens, resumesInMs } = bucket;
  return { rate: numberOf(rate), burst, tokens: Math.floor(tokens * 10) / 10, resumesInMs };
}

/** Returns the data of a bucket whose number of tokens is unknown to this process. */
export function showFarBucket({ rate, burst }: { readonly rate: number; readonly burst: number }): Bucket {
  return { rate: numberOf(rate), burst, tokens: null, resumesInMs: 0 };
}

function numberOf(rate: number): number | "unlimited" {
  return rate === Infinity ? "unlimited" : rate;
}

/** Limiter in the tree, with its bucket and its delays. */
interface Node {
  readonly description: LimiterDescription;
  readonly options: Readonly<Record<string, string>>;
  readonly inside: readonly Node[];
  /** Bucket of the limiter; `undefined` unless the limiter is a bucket with a name. */
  readonly bucket: TokenBucket | undefined;
  /**
   * Returns the delay in milliseconds after the given number of failures. `undefined` if the delay also depends on
   * something else.
   */
  readonly delayAfter: ((failures: number) => unknown) | undefined;
}

function nodeOf(description: LimiterDescription, config: WorkQueueConfig): Node {
  const { options, inside } = optionsOf(description);
  return {
    description,
    options,
    inside: inside.map((part) => nodeOf(part, config)),
    bucket: bucketOf(description, config),
    delayAfter: inside.length === 0 ? delayAfterOf(description) : undefined,
  };
}

function bucketOf({ name }: LimiterDescription, config: WorkQueueConfig): TokenBucket | undefined {
  if (name === undefined) return undefined;
  try {
    return config.bucket(name);
  } catch { // not a bucket
    return undefined;
  }
}

/**
 * Returns a function that calls `next` of a limiter. `undefined` if `next` has more parameters than the number of
 * failures, because the delay may then depend on the item or the attempt, and for a limiter that doesn't count, such as
 * a bucket.
 */
function delayAfterOf(description: LimiterDescription): Node["delayAfter"] {
  try {
    const limiter: RateLimiter = description.create();
    const next = limiter.next as Node["delayAfter"];
    return next !== undefined && next.length <= 1 && limiter.countsFailures !== false ? next.bind(limiter) : undefined;
  } catch { // a third-party definition may throw
    return undefined;
  }
}

function show({ description, ...node }: Node): LimiterNode {
  const { path, type, name, options: { rate, burst } } = description;
  const isBucket = node.inside.length === 0 && typeof rate === "number" && typeof burst === "number";
  return {
    path,
    type,
    name: name ?? null,
    options: node.options,
    bucket: node.bucket !== undefined ? showBucket(node.bucket) : isBucket ? showFarBucket({ rate, burst }) : null,
    inside: node.inside.map(show),
  };
}

function separatorIn({ description, inside }: Node): string | undefined {
  const { type, options: { separator } } = description;
  if (type === "per-group" && typeof separator === "string") return separator;
  for (const node of inside) {
    const found = separatorIn(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Longest delay in a tree of limiters, in milliseconds, and the path of the limiter that causes the delay. */
interface Decision {
  readonly delay: number;
  readonly path: string;
}

/** Tolerance for delays, as a fraction of the delay. Measured delays are not exact. */
const TOLERANCE = 0.05;
/** Additional tolerance for delays, in milliseconds. */
const TOLERANCE_MS = 50;

/**
 * Returns the path of the limiter that decided an item's delay; `null` if unknown. The item's delay is `ago` plus
 * `dueInMs`. If it is longer than every delay that limiters compute from the number of failures alone, the bucket
 * decided it. Without a bucket, the handler decided it, and the result is `null`.
 */
function decidedBy(root: Node, attempts: number, ago: number | null, dueInMs: number | null): string | null {
  if (dueInMs === null || attempts < 1) return null;
  try {
    const decision = longest(root, attempts);
    const bucket = findBucket(root);
    if (ago !== null) {
      const given = ago + dueInMs;
      const isLonger = decision === undefined || given > decision.delay * (1 + TOLERANCE) + TOLERANCE_MS;
      return (isLonger ? bucket?.description.path : decision.path) ?? null;
    }
    const wait = bucket?.bucket === undefined ? 0 : waitOf(bucket.bucket);
    return (decision === undefined || wait > decision.delay ? bucket?.description.path : decision.path) ?? null;
  } catch { // a third-party limiter threw
    return null;
  }
}

function longest({ description, inside, delayAfter }: Node, attempts: number): Decision | undefined {
  const { path, type, options } = description;
  if (delayAfter !== undefined) {
    const delay = delayAfter(attempts);
    return typeof delay === "number" && Number.isFinite(delay) ? { path, delay } : undefined;
  }
  let decision: Decision | undefined;
  for (const node of inside) {
    const next = longest(node, attempts);
    if (next !== undefined && (decision === undefined || next.delay > decision.delay)) decision = next;
  }
  const { maxDelay } = options;
  const isBound = type === "max-wait" && typeof maxDelay === "number" && decision !== undefined;
  return isBound && decision!.delay > maxDelay ? { path, delay: maxDelay } : decision;
}

function findBucket(node: Node): Node | undefined {
  if (node.description.type === "bucket") return node;
  for (const part of node.inside) {
    const found = findBucket(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the time until the next item would receive a token, in milliseconds. */
function waitOf({ rate, tokens, resumesInMs }: TokenBucket): number {
  return resumesInMs + (tokens >= 1 ? 0 : 1000 * (1 - tokens) / rate);
}
