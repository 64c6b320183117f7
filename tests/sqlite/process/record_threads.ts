import type { Engine } from "@workqueue/engine";
import { SqliteEngine, type SqliteEngineSettings } from "../../../packages/sqlite/engine.ts";
import { Thread } from "../../../packages/sqlite/thread/thread.ts";

/** Calls `record` with each engine of this process whose database is in a thread, before its first call. */
export function recordThreads(record: (engine: Engine) => void): void {
  const { call } = Thread.prototype;
  const engines = new Map<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>>();
  Thread.prototype.call = function (queue, method, args) {
    const id = `${this.path} ${queue}`;
    if (method === "open") {
      const methods = Object.getOwnPropertyNames(SqliteEngine.prototype)
        .map((name) => [name, (...args: unknown[]) => call.call(this, queue, name, args)]);
      const engine = Object.fromEntries(methods);
      engine.settings = args[1] as SqliteEngineSettings;
      record(engine);
      engines.set(id, engine);
    }
    return engines.get(id)?.[method]?.(...args) ?? call.call(this, queue, method, args);
  };
}
