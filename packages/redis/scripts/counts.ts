import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, NUMBER } from "./fields.ts";

/** Reply fields with the number of keys in each state. */
export const NUMBERS = {
  /** Includes keys whose delay has passed. */
  ready: NUMBER,
  /** Keys whose group is at a limit or paused, and retries without budget. */
  blocked: NUMBER,
  delayed: NUMBER,
  processing: NUMBER,
  failing: NUMBER,
  givenUp: NUMBER,
  /** Time since the oldest ready or blocked key became ready; 0 if there is none. */
  oldestReadyMs: DURATION,
};

/** Counts the keys of a queue. */
export const counts = declareScript({
  args: {},
  reply: fields(NUMBERS),
  body: lua("counts"),
});
