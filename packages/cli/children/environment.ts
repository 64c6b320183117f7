import process from "node:process";
import type { Environment } from "./process.ts";

/** Environment of this process, copied once, as reading all of it takes time. */
let ours: NodeJS.ProcessEnv | undefined;

/** Returns the whole environment of a child, for APIs that need it. */
export function wholeEnvironment(env: Environment): NodeJS.ProcessEnv {
  ours ??= { ...process.env };
  return { ...ours, ...env };
}
