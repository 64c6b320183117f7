import { LineOutput } from "./line_output.ts";
import type { OutputContext, OutputMode, OutputSettings, RunOutput } from "./run_output.ts";

/** Starts the output of a run. */
export type CreateOutput = (settings: OutputSettings, context: OutputContext) => RunOutput;

/** Loads the module for an output mode. */
export async function loadOutput(mode: OutputMode): Promise<CreateOutput> {
  if (mode === "line") return (settings, context) => new LineOutput(settings, context);
  const { GroupOutput } = await import("./group_output.ts"); // loaded only when needed, because loading takes time
  return (settings, context) => new GroupOutput(settings, context, mode === "input order");
}
