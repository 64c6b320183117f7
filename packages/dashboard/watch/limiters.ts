import type { LimiterDescription, RateLimiter, TokenBucket, WorkQueueConfig } from "@workqueue/core";
import { formatDuration, formatNumber, hasMethods } from "@workqueue/core/internal";
import type { Bucket, LimiterNode } from "../api.ts";

/** The parts of a config that say when the items of a queue are tried: their tree, and which of them decides. */
export interface Limits {
  /** The tree of the queue's limiter, with the tokens that its buckets have now. */
  tree(): LimiterNode;
  /** The path of the part that gave an item its delay after so many attempts; `null` if that is not known. */
  decidedBy(attempts: number, ago: number | null, dueInMs: number | null): string | null;
  /** The first part of keys ends with this, if the queue's discipline or limiter tells groups by it. */
  readonly separator: string | undefined;
}

/** What the config says of the limiter of a queue; `undefined` if it does not know the queue. */
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

/** What is said of a bucket. */
export function showBucket(bucket: TokenBucket): Bucket {
  const { rate, burst, tokens, resumesInMs } = bucket;
  return { rate: numberOf(rate), burst, tokens: Math.floor(tokens * 10) / 10, resumesInMs };
}

/** What is said of a bucket that is elsewhere. */
export function showFarBucket({ rate, burst }: { readonly rate: number; readonly burst: number }): Bucket {
  return { rate: numberOf(rate), burst, tokens: null, resumesInMs: 0 };
}

export function isTokenBucket(value: unknown): value is TokenBucket {
  return hasMethods(value, "setRate", "setBurst", "pauseFor", "resume", "reserve");
}

function numberOf(rate: number): number | "unlimited" {
  return rate === Infinity ? "unlimited" : rate;
}

/** A part of a limiter, with what can be asked for its delays. */
interface Node {
  readonly description: LimiterDescription;
  readonly options: Readonly<Record<string, string>>;
  readonly inside: readonly Node[];
  /** The bucket, if this is one that has a name. */
  readonly bucket: TokenBucket | undefined;
  /** How long an item waits after so many failures, if that depends on nothing else. */
  readonly delayAfter: ((failures: number) => number) | undefined;
}

function nodeOf(description: LimiterDescription, config: WorkQueueConfig): Node {
  const fields = description.definition().options;
  const options: Record<string, string> = {};
  const inside: Node[] = [];
  for (const [option, value] of Object.entries(description.options)) {
    const parts = (Array.isArray(value) ? value : [value]) as readonly unknown[];
    if (parts.every(isDescription)) inside.push(...parts.map((part) => nodeOf(part, config)));
    else options[option] = optionText(value, fields[option]?.kind);
  }
  return {
    description,
    options,
    inside,
    bucket: bucketOf(description, config),
    delayAfter: inside.length === 0 ? delayAfterOf(description) : undefined,
  };
}

function isDescription(value: unknown): value is LimiterDescription {
  return hasMethods(value, "definition", "create");
}

function optionText(value: unknown, kind: string | undefined): string {
  if (value === Infinity) return "unlimited";
  if (typeof value === "number") return kind === "duration" ? formatDuration(value) : formatNumber(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function bucketOf({ name }: LimiterDescription, config: WorkQueueConfig): TokenBucket | undefined {
  if (name === undefined) return undefined;
  try {
    return config.bucket(name);
  } catch { // it is no bucket
    return undefined;
  }
}

function delayAfterOf(description: LimiterDescription): Node["delayAfter"] {
  try {
    const limiter: RateLimiter = description.create();
    return limiter.delayAfter?.bind(limiter);
  } catch { // a definition of somebody else's may refuse
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

/** The longest delay that a part gives, and the path of the part inside that gives it. */
interface Decision {
  readonly delay: number;
  readonly path: string;
}

/** What delays may differ by, as clocks and looks are not exact: a part of the delay, and milliseconds. */
const TOLERANCE = 0.05;
const TOLERANCE_MS = 50;

/**
 * An item that failed `ago` and is due in `dueInMs` was given the sum of both. Where that is longer than all that
 * depends on the number of its failures, a bucket has said so; if there is none, it was the handler.
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
  } catch { // of a limiter of somebody else's
    return null;
  }
}

function longest({ description, inside, delayAfter }: Node, attempts: number): Decision | undefined {
  const { path, type, options } = description;
  if (delayAfter !== undefined) return { path, delay: delayAfter(attempts) };
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

/** How long the next item would wait for a token. */
function waitOf({ rate, tokens, resumesInMs }: TokenBucket): number {
  return resumesInMs + (tokens >= 1 ? 0 : 1000 * (1 - tokens) / rate);
}
