import { hasMethods } from "../lib/base/arguments.ts";
import { setRateAndBurst } from "../lib/tokens/bucket_changes.ts";
import { TokenBucket } from "../lib/tokens/token_bucket.ts";
import type { PartDefinition, PartKind } from "../registry/definition.ts";
import type { Fields } from "../registry/fields.ts";

/**
 * Properties of token buckets as parts of a config. The option `throttle` takes a token bucket. There is only one type
 * of bucket, so the config of a bucket has no `type`. The name of a bucket in a document is the name of its limiter,
 * which must be of type `"bucket"`.
 */
export const bucketKind: PartKind<"bucket", TokenBucket> = {
  word: "bucket",
  name: "token bucket",
  hasNames: true,
  onlyType: "bucket",
  is: isTokenBucket,
};

/** Options of a token bucket in a config. */
export const bucketFields = {
  rate: { kind: "number", min: 0, infinite: true, description: "Attempts per second, on average." },
  burst: { kind: "integer", min: 0, description: "Maximum number of attempts that start at once." },
} as const satisfies Fields;

const definition: PartDefinition<"bucket", TokenBucket, "bucket", typeof bucketFields> = {
  type: "bucket",
  description: "A token bucket.",
  options: bucketFields,
  create: ({ rate, burst }, { clock }) => new TokenBucket(rate, burst, { clock }),
  update: (bucket, { rate, burst }) => setRateAndBurst(bucket, rate, burst),
};

/** Registry of one definition, the bucket's. It has only the methods of a registry that reading a config requires. */
export const bucketDefinitions = {
  get: (): PartDefinition<"bucket", TokenBucket> => definition as unknown as PartDefinition<"bucket", TokenBucket>,
  types: (): string[] => [definition.type],
};

/** Returns the token bucket of a limiter; `undefined` if the limiter has none. */
export function bucketOf(limiter: unknown): TokenBucket | undefined {
  const bucket = (limiter as { bucket?: unknown }).bucket;
  return isTokenBucket(bucket) ? bucket : undefined;
}

/** Reports whether a value is a token bucket, possibly from another copy of this package. */
function isTokenBucket(value: unknown): value is TokenBucket {
  return hasMethods(value, "allow", "reserve", "wait");
}
