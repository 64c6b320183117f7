import process from "node:process";
import type { Environment } from "./process.ts";

/** Ours, copied once: to read all of it takes time. */
let ours: NodeJS.ProcessEnv | undefined;

/** The whole environment of a process, for interfaces that want all of it. */
export function wholeEnvironment(env: Environment): NodeJS.ProcessEnv {
  ours ??= { ...process.env };
  return { ...ours, ...env };
}
