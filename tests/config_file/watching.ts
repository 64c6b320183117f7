/** Helpers for tests of watches. */

import { type ConfigChange, ConfigError } from "@workqueue/core";
import { watchConfigFile, type WatchConfigFileOptions } from "@workqueue/config-file";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigFile } from "../../packages/config-file/config_file.ts";
import { WatchedFile } from "../../packages/config-file/watched_file.ts";
import { Folder } from "./folder.ts";

/** Timeout in milliseconds, in case an event never happens. */
const DEADLINE = 60_000;

/** Waits until a condition is true; throws after a deadline. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > DEADLINE) throw new Error(`Waited too long until ${what}`);
    await delay(5);
  }
}

/**
 * Watches a missing file until the watch reports that the file is missing. By then, every other running watch has
 * checked its own file several times.
 */
export async function looksPass(): Promise<void> {
  using folder = new Folder();
  const errors: unknown[] = [];
  using _watch = watchConfigFile(folder.at("gone.json"), { reload: () => [] }, { onError: (e) => errors.push(e) });
  await until(() => errors.length > 0, "a file that is gone is reported");
}

/** Content of the watched file before it changes. */
export const OLD = { value: 1 };

/** Stand-in for a config loaded from {@linkcode OLD}. The stand-in rejects documents with a `broken` key. */
export class StandIn {
  /** Accepted documents, oldest first. */
  readonly documents: unknown[] = [];
  #inForce: unknown = OLD;

  readonly reload = (source: string | object): ConfigChange[] => {
    const document = typeof source === "string" ? JSON.parse(source) : source;
    if ("broken" in document) {
      throw new ConfigError("reload config", [
        { path: "/broken", message: "it is broken" },
        { path: "", message: `so says ${document.broken}` },
      ]);
    }
    const old = this.#inForce;
    this.documents.push(this.#inForce = document);
    return JSON.stringify(old) === JSON.stringify(document) ? [] : [{ path: "", old, new: document, inForce: "now" }];
  };
}

/** Stand-in for a config, together with everything that the watch on its file has reported. */
class Reported {
  readonly config: StandIn = new StandIn();
  readonly reloads: ConfigChange[][] = [];
  readonly errors: unknown[] = [];
  protected readonly options: WatchConfigFileOptions = {
    onReload: (changes) => void this.reloads.push(changes),
    onError: (error) => void this.errors.push(error),
  };

  /** Messages of the reported errors, in order. */
  get messages(): string[] {
    return this.errors.map((error) => (error as Error).message);
  }

  /** Documents passed to each reported reload. */
  get reported(): unknown[] {
    return this.reloads.map((changes) => changes.map((change) => change.new));
  }
}

/** Number of checks after which a change takes effect. */
export const TWICE = 2;
/** Number of checks after which a missing, empty or unreadable file is reported. */
export const MIN_LOOKS = 5;

/** Watched file that is checked when the test requests it, without a timer. */
export class HandWatched extends Reported {
  readonly #file: WatchedFile;

  constructor(path: string, given?: WatchConfigFileOptions, reload?: StandIn["reload"]) {
    super();
    this.#file = new WatchedFile(new ConfigFile(path), { reload: reload ?? this.config.reload }, given ?? this.options);
  }

  /** Checks the file several times in a row. */
  async look(times = 1): Promise<void> {
    for (let i = 0; i < times; i++) await this.#file.look();
  }

  dispose(): void {
    this.#file[Symbol.dispose]();
  }
}

/** File watched by `watchConfigFile`. */
export class Watched extends Reported implements Disposable {
  readonly watch: Disposable;

  constructor(path: string | URL) {
    super();
    this.watch = watchConfigFile(path, this.config, this.options);
  }

  /** Waits until the file has been read for the first time. */
  async begun(): Promise<this> {
    await until(() => this.config.documents.length + this.errors.length > 0, "the file was read");
    return this;
  }

  async inForce(document: unknown): Promise<void> {
    const text = JSON.stringify(document);
    await until(() => JSON.stringify(this.config.documents.at(-1)) === text, `${text} is in force`);
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
  }
}
