/** Bugs that random runs must find: changes to the package. */

/** Change to one file of the package. */
export interface Planted {
  readonly name: string;
  /** File of the package. */
  readonly file: string;
  /** Text that occurs once in the file, and the text that replaces it. */
  readonly find: string;
  readonly replace: string;
}

/** Bugs, each in a copy of the package of its own. */
export const PLANTED: readonly Planted[] = [
  {
    name: "410 doesn't cause a list",
    file: "cache/list_watch.ts",
    find: "status === 404 || status === 410 || status === 504) this.#version",
    replace: "status === 404 || status === 504) this.#version",
  },
  {
    name: "a watch that begins again doesn't name the last version",
    file: "cache/list_watch.ts",
    find: "const query = { resourceVersion: this.#version, timeoutSeconds };",
    replace: "const query = { timeoutSeconds };",
  },
  {
    name: "a watch that has ended doesn't begin again",
    file: "cache/list_watch.ts",
    find: "await this.#wait(error, wasOpen, signal).catch(() => {});",
    replace: "if (wasOpen) return;\n      await this.#wait(error, wasOpen, signal).catch(() => {});",
  },
  {
    name: "an older object replaces a newer one",
    file: "cache/store.ts",
    find: "!isNewer(received.metadata.resourceVersion, known.metadata.resourceVersion)",
    replace: "received.metadata.resourceVersion === known.metadata.resourceVersion",
  },
  {
    name: "objects that a list lacks stay",
    file: "cache/store.ts",
    find: "if (!listing.covers(before) || found.has(key)) continue;",
    replace: "continue;",
  },
  {
    name: "the answer to an own write brings back a deleted object",
    file: "cache/store.ts",
    find: "if (write.deleted.has(uid) || this.#deleted.has(uid)) return;",
    replace: "",
  },
  {
    name: "an event brings back an object that this process deleted",
    file: "cache/store.ts",
    find: "if (!isOld && !this.#deleted.has(uid)) this.#take(key, received, undefined);",
    replace: "this.#take(key, received, undefined);",
  },
  {
    name: "the first part of a line that comes in two chunks is lost",
    file: "client/lines.ts",
    find: "if (start < chunk.length) parts.push(chunk.slice(start));",
    replace: "",
  },
  {
    name: "an apply is left out although the value has changed",
    file: "cache/applied.ts",
    find: "this.#digests.get(object) === digestOf(contentOf(body));",
    replace: "this.#digests.has(object) && body !== undefined;",
  },
  {
    name: "the values of fields that the controller applied are not compared",
    file: "cache/applied.ts",
    find: "JSON.stringify(value, sorted)",
    replace: 'JSON.stringify(value, (key, inner) => typeof inner === "string" ? "" : sorted(key, inner))',
  },
  {
    name: "events of owned objects are lost",
    file: "manager/controller.ts",
    find: "      .filter((owner) => owner.controller && ",
    replace: "      .filter((owner) => !owner.controller && ",
  },
  {
    name: "a failure ends the attempts at a key",
    file: "manager/controller.ts",
    find: "throw this.#failure(key, error);",
    replace: "return;",
  },
  {
    name: "a conflict ends the attempts at a key",
    file: "manager/reconciler.ts",
    find: "if (!isConflict(error) || context.signal.aborted) throw error;",
    replace: "if (!isConflict(error) || context.signal.aborted) throw error;\n      return;",
  },
  {
    name: "the finalizer is removed although the cleanup failed",
    file: "manager/reconciler.ts",
    find: "await cleanup!.call(this.#options, object, context);",
    replace: "await cleanup!.call(this.#options, object, context).catch(() => {});",
  },
  {
    name: "an object that lost its label keeps its finalizer",
    file: "manager/reconciler.ts",
    find: "if (object.metadata.finalizers?.includes(finalizer)) this.#left.add(keyOf(object));",
    replace: "",
  },
  {
    name: "the lease is released before the attempts have ended",
    file: "manager/manager.ts",
    find: "const stopped = Promise.all(",
    replace: "await lease?.release();\n    const stopped = Promise.all(",
  },
  {
    name: "a process goes on after it has lost the lease",
    file: "manager/manager.ts",
    find: "        run.fail(error);\n        run.attempts.abort(error);\n        isLost.abort();\n",
    replace: "        void error;\n",
  },
  {
    name: "the lease of another process is taken before its end",
    file: "lease/leader_lease.ts",
    find: "this.#clock.now() - this.#seen!.at < duration) return false;",
    replace: "this.#clock.now() - this.#seen!.at < duration / 3) return false;",
  },
  {
    name: "the deadline of a lease passes unnoticed",
    file: "lease/leader_lease.ts",
    find: "    while (this.isHeld) {",
    replace: "    if (signal) return;\n    while (this.isHeld) {",
  },
];
