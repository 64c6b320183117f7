import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { FLAG } from "./fields.ts";

/** Replies whether the keys of the queue expire, because it is empty. */
export const isEnding = declareScript({
  args: {},
  reply: FLAG,
  body: lua("is_ending"),
});
