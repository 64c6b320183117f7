import { createHash } from "node:crypto";

/** Lua script. */
export interface Script {
  readonly text: string;
  /** SHA-1 of the text, in hexadecimal digits. The server identifies the script by this hash. */
  readonly sha1: string;
  /**
   * The script for a node of a cluster: instead of `PUBLISH`, which sends a message through all nodes, it calls
   * `SPUBLISH`, which sends the message to subscribers on this node.
   */
  readonly onNode: Script;
}

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
