import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { NUMBER, optional } from "./fields.ts";

/**
 * Pauses the queue. No key is handed out to any process until the queue is resumed. The reply is the number of this
 * pause.
 *
 * With a `number`, makes the same pause in another partition: `number` was the reply of the call to the first
 * partition. Pauses and resumptions may reach the partitions in any order.
 */
export const pause = declareScript({
  args: { number: optional(NUMBER) },
  reply: NUMBER,
  body: lua("pause"),
});
