import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import type { Statements } from "./statements.ts";

/** Milliseconds between two notes that this machine uses the file. */
const EVERY = 20_000;
/** Milliseconds after which a machine that has made no note no longer uses the file. */
const SILENCE = 60_000;

/** Machine: its identity since it was started, and the time when that was, in milliseconds since 1970. */
export interface Machine {
  readonly id: string;
  readonly startedAt: number;
}

/**
 * Returns this machine. Its containers are the same machine. `undefined` if it is not known, as on other systems than
 * Linux, or on Deno without permission to read `/proc`: another process of this machine may have another name for it.
 */
export function thisMachine(): Machine | undefined {
  try {
    const id = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { id, startedAt: Date.now() - uptime() * 1000 };
  } catch {
    return undefined;
  }
}

/** Notes in the file that this machine uses it, because the processes of several machines would damage it. */
export class Machines {
  readonly #machine: Machine | undefined;
  #notedAt = -Infinity;

  constructor(machine: Machine | undefined = thisMachine()) {
    this.#machine = machine;
  }

  /**
   * Makes a note, if it is time to. Called in a transaction.
   *
   * @throws {Error} If another machine uses the file.
   */
  note(sql: Statements): void {
    if (this.#machine === undefined) return;
    const now = Date.now();
    if (now < this.#notedAt + EVERY && now >= this.#notedAt) return;
    const { id, startedAt } = this.#machine;
    // A note from before this machine was started may be its own, and also a note from the future, if the clock was set
    // back.
    const since = Math.max(now - SILENCE, startedAt);
    const other = sql.get<{ seen: number }>(
      "SELECT seen FROM machines WHERE id <> ? AND seen BETWEEN ? AND ?",
      id,
      since,
      now + SILENCE,
    );
    if (other !== undefined) {
      const ago = Math.max(0, Math.round((now - other.seen) / 1000));
      throw new Error(
        `another machine used it ${ago} s ago. Only the processes of one machine can share a file: use Redis. ` +
          `If no other machine uses it any more, try again ${SILENCE / 1000} s after its last use`,
      );
    }
    sql.run("DELETE FROM machines WHERE id <> ?", id);
    sql.run(
      "INSERT INTO machines (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen",
      id,
      now,
    );
    this.#notedAt = now;
  }
}
