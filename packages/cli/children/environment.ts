import process from "node:process";
import type { Environment } from "./process.ts";

/** Environment of this process. The environment is copied only once, because reading all variables takes time. */
let ours: NodeJS.ProcessEnv | undefined;

/** Returns all variables of a child's environment, for APIs that don't inherit the variables of this process. */
export function wholeEnvironment(env: Environment): NodeJS.ProcessEnv {
  ours ??= { ...process.env };
  return { ...ours, ...env };
}
