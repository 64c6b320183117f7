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
  /**
   * The script for a server that doesn't know the first line, in which Redis 7 reads the script's flags. There, scripts
   * that only read or finish items fail as well when the server's memory is full.
   */
  readonly headless: Script;
}

/** First line of a script with flags. */
const HEADER = /^#!.*\n/;

/** Reports whether a script begins with its flags. */
export function hasHeader({ text }: Script): boolean {
  return HEADER.test(text);
}

/** Creates a script from its text. */
export function createScript(text: string): Script {
  let sha1: string | undefined;
  let onNode: Script | undefined;
  let headless: Script | undefined;
  return {
    text,
    get sha1() {
      return sha1 ??= createHash("sha1").update(text).digest("hex");
    },
    get onNode() {
      return onNode ??= createScript(text.replaceAll("'PUBLISH'", "'SPUBLISH'"));
    },
    get headless() {
      return headless ??= createScript(text.replace(HEADER, ""));
    },
  };
}
