/** Histories of the queues of fault tests: recorded while a queue is open, and checked when it is closed. */

import { assertEquals } from "@std/assert";
import process from "node:process";
import { RedisEngine } from "../../../packages/redis/engine.ts";
import { check, type Rules } from "../history/check.ts";
import { createFolder, readFolder, recordQueue, removeFolder } from "../history/folder.ts";

/** Recorded history of a queue. */
export class RecordedHistory {
  readonly folder: string = createFolder();
  readonly #name: string;
  readonly #end: () => void;
  #users = 0;
  #isIgnored = false;
  /** Whether the folder stays, because something was wrong. */
  #isKept = false;

  constructor(name: string) {
    this.#name = name;
    this.#end = recordQueue(RedisEngine.prototype, name, this.folder);
  }

  /** Leaves out the check, because the test changes the stored data itself or lets the server lose data. */
  ignore(): void {
    this.#isIgnored = true;
  }

  /** Checks the history up to now. Returns the number of hand-outs. */
  check(rules: Rules): number {
    const { handOuts, wrong } = check(readFolder(this.folder), rules);
    this.#isKept ||= wrong.length > 0;
    assertEquals(wrong, [], `the history is in ${this.folder}`);
    return handOuts;
  }

  /** Counts a queue object that uses the queue. Returns a function that checks the history after the last of them. */
  use(): () => void {
    this.#users++;
    return () => {
      if (--this.#users > 0) return;
      histories.delete(this.#name);
      this.#end();
      try {
        if (!this.#isIgnored && !this.#isKept) this.check({});
      } finally {
        this.remove();
      }
    };
  }

  /** Removes the folder, unless something was wrong. */
  remove(): void {
    if (!this.#isKept) removeFolder(this.folder);
  }
}

const histories = new Map<string, RecordedHistory>();
process.on("exit", () => histories.forEach((history) => history.remove())); // of queues that were not closed

/** Returns the history of a queue, which is recorded from the first call on. */
export function historyOf(name: string): RecordedHistory {
  let history = histories.get(name);
  if (history === undefined) histories.set(name, history = new RecordedHistory(name));
  return history;
}
