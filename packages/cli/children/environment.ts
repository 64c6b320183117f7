import process from "node:process";
import type { Environment } from "./process.ts";

/** Environment of this process. Copied once because reading all of it takes time. */
let ours: NodeJS.ProcessEnv | undefined;

/** Returns all variables of a child's environment, for APIs that don't inherit those of this process. */
export function wholeEnvironment(env: Environment): NodeJS.ProcessEnv {
  ours ??= { ...process.env };
  return { ...ours, ...env };
}
