import { systemClock } from "@workqueue/core";
import { readFileSync } from "node:fs";

/** Age in milliseconds at which a file is read again. Service accounts get a new token long before theirs expires. */
const MAX_AGE = 10_000;

/** Content of a file that other programs replace. */
export class FreshFile {
  readonly #path: string;
  #content: string | undefined;
  #readAt = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the content. If the file can no longer be read, returns its latest content. */
  read(): string {
    const now = systemClock.now();
    if (this.#content !== undefined && now - this.#readAt < MAX_AGE) return this.#content;
    try {
      this.#content = readFileSync(this.#path, "utf8");
    } catch (error) {
      if (this.#content === undefined) throw error;
    }
    this.#readAt = now;
    return this.#content;
  }

  /** Makes the next `read` read the file. */
  expire(): void {
    this.#readAt = -Infinity;
  }
}
