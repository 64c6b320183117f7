import type { Engine, EngineLimiter, ThrottleStore } from "@workqueue/engine";
import { openFile } from "../database/open_file.ts";
import type { SqliteEngineSettings } from "../engine.ts";
import type { Parts } from "../parts.ts";
import { PRODUCT } from "../product.ts";
import type { GivenThread } from "./entry.ts";
import type { SentSettings } from "./protocol.ts";
import { type Thread, threadOf } from "./thread.ts";

/**
 * Opens a queue whose database is in a thread.
 *
 * @param path The real path of the file.
 * @param given The option `thread`.
 * @throws {Error} If this runtime has no SQLite, if the file can't be opened, or if the thread would start this program
 * again.
 */
export function openThreadParts(path: string, given: GivenThread, settings: SqliteEngineSettings): Parts {
  openFile(path).close(); // throws if it can't be opened: the thread could only say so later
  const thread = threadOf(path, given);
  const queue = thread.open(sentSettingsOf(settings));
  return { engine: engineIn(thread, queue, settings), throttleStore: throttleStoreIn(thread, queue) };
}

function sentSettingsOf({ limiter, discipline, clock: _, ...settings }: SqliteEngineSettings): SentSettings {
  return {
    ...settings,
    limiter: sentLimiterOf(limiter),
    discipline: discipline && { text: discipline.text, weights: discipline.weights },
  };
}

function sentLimiterOf({ rules, needsStart }: EngineLimiter): SentSettings["limiter"] {
  return { rules, needsStart };
}

function engineIn(thread: Thread, queue: number, settings: SqliteEngineSettings): Engine {
  let { limiter } = settings;
  let measuresTimes = false;
  const set = (members: object) => void thread.call(queue, "set", [members]).catch(() => {}); // the next call fails
  function method<Name extends keyof Engine>(name: Name): Engine[Name] {
    return ((...args: unknown[]) => thread.call(queue, name, args)) as Engine[Name];
  }
  return {
    product: PRODUCT,
    address: thread.path,
    isConnected: true,
    settings,
    get limiter() {
      return limiter;
    },
    set limiter(changed) {
      limiter = changed;
      set({ limiter: sentLimiterOf(changed) });
    },
    get measuresTimes() {
      return measuresTimes;
    },
    set measuresTimes(changed) {
      measuresTimes = changed;
      set({ measuresTimes });
    },
    add: method("add"),
    addEach: method("addEach"),
    addRateLimited: method("addRateLimited"),
    cancelDelayed: method("cancelDelayed"),
    cancel: method("cancel"),
    addAndWait: method("addAndWait"),
    waits: method("waits"),
    promoteDelayed: method("promoteDelayed"),
    forget: method("forget"),
    numRequeues: method("numRequeues"),
    turn: method("turn"),
    renew: method("renew"),
    release: method("release"),
    leave: method("leave"),
    pause: method("pause"),
    resume: method("resume"),
    pauseUntil: method("pauseUntil"),
    groupOf: (key) => settings.discipline?.groupOf?.(key),
    pauseGroup: method("pauseGroup"),
    resumeGroup: method("resumeGroup"),
    keepGivenUp: method("keepGivenUp"),
    limitRetries: method("limitRetries"),
    givenUp: method("givenUp"),
    discard: method("discard"),
    redrive: method("redrive"),
    redriveProgress: method("redriveProgress"),
    stopRedrive: method("stopRedrive"),
    stored: method("stored"),
    restore: method("restore"),
    restoreGivenUp: method("restoreGivenUp"),
    counts: method("counts"),
    snapshot: method("snapshot"),
    listen: (process, { wake, renew }) => {
      return thread.listen(queue, "listen", [process], (message) => message === "renew" ? renew() : wake(message));
    },
    onReconnect: () => () => {},
    checkStore() {},
    close: () => thread.close(queue),
  };
}

function throttleStoreIn(thread: Thread, queue: number): ThrottleStore {
  return {
    permits: (...args) => thread.call(queue, "permits", args) as ReturnType<ThrottleStore["permits"]>,
    tokens: (...args) => thread.call(queue, "tokens", args) as ReturnType<ThrottleStore["tokens"]>,
    listen: (id, process, callback) => thread.listen(queue, "listenThrottle", [id, process], () => callback()),
    onReconnect: () => () => {},
  };
}
