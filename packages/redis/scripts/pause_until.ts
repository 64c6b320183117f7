import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, NOTHING } from "./fields.ts";

/** Pauses the queue for a while. A pause that ends later stays in force. */
export const pauseUntil = declareScript({
  args: { durationMs: DURATION },
  reply: NOTHING,
  body: lua("pause_until"),
});
