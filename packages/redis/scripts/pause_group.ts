import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, FLAG, TEXT } from "./fields.ts";

/**
 * Blocks the keys of a group for a while. The reply is false if the queue has no groups. A duration of 0 or less
 * changes nothing.
 */
export const pauseGroup = declareScript({
  args: { group: TEXT, durationMs: DURATION },
  reply: FLAG,
  body: lua("pause_group"),
});

/** Ends the pause of a group. The reply is false if the queue has no groups. */
export const resumeGroup = declareScript({
  args: { group: TEXT },
  reply: FLAG,
  body: lua("resume_group"),
});
