/** What the tests of watching have in common. */

import { type ConfigChange, ConfigError } from "@workqueue/core";
import { watchConfigFile } from "@workqueue/config-file";
import { setTimeout as delay } from "node:timers/promises";
import { Folder } from "./folder.ts";

/** Guards against what never happens, and nothing else. */
const DEADLINE = 60_000;

/** Waits until something holds; fails if it does not in time. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > DEADLINE) throw new Error(`Waited too long until ${what}`);
    await delay(5);
  }
}

/** Waits until a file that is gone has been told of: every other watch has looked at its file several times by then. */
export async function looksPass(): Promise<void> {
  using folder = new Folder();
  const errors: unknown[] = [];
  using _watch = watchConfigFile(folder.at("gone.json"), { reload: () => [] }, { onError: (e) => errors.push(e) });
  await until(() => errors.length > 0, "a file that is gone is told of");
}

/** What a file says that is watched, before it changes. */
export const OLD = { value: 1 };

/** Stands for a config that was loaded when the file said {@linkcode OLD}. Refuses documents that say `broken`. */
export class StandIn {
  /** What it was given and took, the latest last. */
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

/** A file that is watched, and all that is told of it. */
export class Watched implements Disposable {
  readonly config: StandIn = new StandIn();
  readonly reloads: ConfigChange[][] = [];
  readonly errors: unknown[] = [];
  readonly watch: Disposable;

  constructor(path: string | URL) {
    this.watch = watchConfigFile(path, this.config, {
      onReload: (changes) => void this.reloads.push(changes),
      onError: (error) => void this.errors.push(error),
    });
  }

  /** What the errors say, in the order in which they were told. */
  get messages(): string[] {
    return this.errors.map((error) => (error as Error).message);
  }

  /** What each reload that was told of changed to. */
  get told(): unknown[] {
    return this.reloads.map((changes) => changes.map((change) => change.new));
  }

  /** Waits until the file was read for the first time, and what is told of that has been. */
  async begun(): Promise<this> {
    await until(() => this.config.documents.length + this.errors.length > 0, "the file was read");
    return this;
  }

  async inForce(document: unknown): Promise<void> {
    const text = JSON.stringify(document);
    await until(() => JSON.stringify(this.config.documents.at(-1)) === text, `${text} is in force`);
  }

  async failed(times: number): Promise<void> {
    await until(() => this.errors.length >= times, `${times} problems were told`);
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
  }
}
