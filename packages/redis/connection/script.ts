import { createHash } from "node:crypto";
import type { Script } from "./connection.ts";

/** Creates a script from its text. */
export function createScript(text: string): Script {
  let sha1: string | undefined;
  let onNode: Script | undefined;
  return {
    text,
    get sha1() {
      return sha1 ??= createHash("sha1").update(text).digest("hex");
    },
    get onNode() {
      return onNode ??= createScript(text.replaceAll("'PUBLISH'", "'SPUBLISH'"));
    },
  };
}
