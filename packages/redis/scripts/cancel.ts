import type { CancelledFrom } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { optional, type ReplyField, TEXT } from "./fields.ts";

const STATE = optional(TEXT) as ReplyField<CancelledFrom | undefined>;

/**
 * Cancels the work on a key, and forgets its failures. A key that is ready, blocked or delayed is taken out. The owner
 * of a key that is processing is told to renew its lease. The reply is the state of the key; missing if it had none.
 */
export const cancel = declareScript({
  functions: lua("limiters"),
  args: { key: TEXT, reason: TEXT },
  reply: STATE,
  body: lua("cancel"),
});
