import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { NUMBER, optional } from "./fields.ts";

/**
 * Resumes the queue. If `pause` is the number of a pause, resumes the queue only if that was the last pause. Wakes up
 * to `BATCH` idle processes, because no process was woken while the queue was paused. The reply is the number of the
 * last pause, or -1 if the queue was not resumed.
 *
 * With `ended`, resumes another partition in the same way: `ended` was the reply of the call to the first partition.
 */
export const resume = declareScript({
  args: { pause: optional(NUMBER), ended: optional(NUMBER) },
  reply: NUMBER,
  body: lua("resume"),
});
