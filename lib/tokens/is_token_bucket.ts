import { hasMethods } from "../base/arguments.ts";
import type { TokenBucket } from "./token_bucket.ts";

/** Reports whether a value is a token bucket, possibly from another copy of this package. */
export function isTokenBucket(value: unknown): value is TokenBucket {
  return hasMethods(value, "reserve", "setRate", "setBurst", "pauseFor", "resume");
}
