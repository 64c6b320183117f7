import { createHash } from "node:crypto";
import type { Script } from "./connection.ts";

/** Makes a script of its text. */
export function createScript(text: string): Script {
  let sha1: string | undefined;
  return {
    text,
    get sha1() {
      return sha1 ??= createHash("sha1").update(text).digest("hex");
    },
  };
}
