/** Tests of watching a config file while people and programs change the file in various ways. */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { type ConfigChange, ConfigError } from "@workqueue/core";
import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Folder } from "./folder.ts";
import { HandWatched, looksPass, MIN_LOOKS, OLD, StandIn, TWICE, until, Watched } from "./watching.ts";

const NEW = { value: 2 };
const oldText = JSON.stringify(OLD);
const newText = JSON.stringify(NEW);

const isWindows = process.platform === "win32";

/** Changes a file from the old text to the new text. Calls `pause` between the steps of the change. */
type Write = (folder: Folder, path: string, pause: () => Promise<unknown>) => unknown;

const WAYS: Record<string, Write> = {
  "in place": (_, path) => writeFileSync(path, newText),
  "in steps: emptied, and written piece by piece": async (_, path, pause) => {
    truncateSync(path);
    for (const letter of newText) {
      await pause();
      appendFileSync(path, letter);
    }
  },
  "beside it and renamed over it": (folder, path) => renameSync(folder.write("new", newText), path),
  "anew, once it was renamed to be the backup": (_, path) => {
    renameSync(path, `${path}~`);
    writeFileSync(path, newText);
  },
  "anew, once it was deleted": async (_, path, pause) => {
    unlinkSync(path);
    await pause();
    writeFileSync(path, newText);
  },
  "with the same length, and its times put back": (_, path) => {
    const { atime, mtime } = statSync(path);
    writeFileSync(path, newText);
    utimesSync(path, atime, mtime);
  },
  "twice in quick succession: the last one counts": (_, path) => {
    writeFileSync(path, `{ "value": 3 }`);
    writeFileSync(path, newText);
  },
  "so that it is broken for a moment": (_, path) => {
    writeFileSync(path, "{");
    writeFileSync(path, newText);
  },
};

/** Ways to write a file with commands that don't exist on Windows. */
const COMMANDS: Record<string, Write> = {
  "by sed -i": (_, path) => execFileSync("sed", ["-i.bak", "s/1/2/", path]),
  "by mv": (folder, path) => execFileSync("mv", [folder.write("new", newText), path]),
  "by cp": (folder, path) => execFileSync("cp", [folder.write("new", newText), path]),
  "by a shell": (_, path) => execFileSync("sh", ["-c", `: > "$1"; printf %s '${newText}' >> "$1"`, "sh", path]),
};

for (const [way, write] of Object.entries({ ...WAYS, ...COMMANDS })) {
  Deno.test({
    name: `watching: a file that is written ${way} is reloaded once`,
    ignore: isWindows && way in COMMANDS,
    async fn() {
      using folder = new Folder();
      const path = folder.write("a.json", oldText);
      const watched = new HandWatched(path);
      await watched.look(TWICE);
      await write(folder, path, () => watched.look());
      await watched.look(TWICE);
      assertEquals([watched.config.documents, watched.reported, watched.errors], [[OLD, NEW], [[NEW]], []]);
      writeFileSync(path, oldText); // the watch continues
      await watched.look(TWICE);
      assertEquals([watched.config.documents, watched.reported, watched.errors], [[OLD, NEW, OLD], [[NEW], [OLD]], []]);
    },
  });
}

Deno.test("watching: files written in all these ways at once are reloaded once each, as time passes", async () => {
  const ways = Object.entries({ ...WAYS, ...(isWindows ? {} : COMMANDS) });
  await Promise.all(ways.map(async ([way, write]) => {
    using folder = new Folder();
    const path = folder.write("a.json", oldText);
    using watched = await new Watched(path).begun();
    await write(folder, path, () => setImmediate());
    await watched.inForce(NEW);
    writeFileSync(path, oldText); // the watch continues
    await watched.inForce(OLD);
    assertEquals(
      [watched.config.documents, watched.reported, watched.errors],
      [[OLD, NEW, OLD], [[NEW], [OLD]], []],
      way,
    );
  }));
});

/**
 * Folder with the layout of a ConfigMap that Kubernetes has mounted. The files are links into `..data`, and `..data` is
 * a link that is replaced.
 */
class ConfigMap {
  readonly path: string;
  readonly #folder: Folder;
  #current: string | undefined;

  constructor(folder: Folder, text: string) {
    this.#folder = folder;
    this.update(text);
    this.path = folder.at("a.json");
    symlinkSync("..data/a.json", this.path);
  }

  /** Updates the folder the way the kubelet's `AtomicWriter` does. */
  update(text: string): void {
    const next = `..${this.#current === undefined ? 1 : Number(this.#current.slice(2)) + 1}`;
    mkdirSync(this.#folder.at(next));
    this.#folder.write(`${next}/a.json`, text);
    symlinkSync(next, this.#folder.at("..data_tmp"));
    renameSync(this.#folder.at("..data_tmp"), this.#folder.at("..data"));
    if (this.#current !== undefined) rmSync(this.#folder.at(this.#current), { recursive: true });
    this.#current = next;
  }
}

Deno.test({
  name: "watching: a ConfigMap is reloaded after every update",
  ignore: isWindows, // creating links requires a privilege on Windows
  async fn() {
    using folder = new Folder();
    const map = new ConfigMap(folder, oldText);
    using watched = await new Watched(map.path).begun();
    for (const value of [2, 3, 4]) {
      map.update(JSON.stringify({ value }));
      await watched.inForce({ value });
    }
    assertEquals(watched.errors, []);
  },
});

Deno.test("watching: a config follows its file, and stays in force when the file is broken", async () => {
  using folder = new Folder();
  const path = folder.write("a.yaml", "limiters: { api: { type: bucket, rate: 1, burst: 5 } }");
  const config = loadConfigFile(path);
  const bucket = config.bucket("api");
  const changes: ConfigChange[] = [];
  const errors: unknown[] = [];
  using _watch = watchConfigFile(path, config, {
    onReload: (some) => void changes.push(...some),
    onError: (error) => void errors.push(error),
  });
  writeFileSync(path, "limiters: { api: { type: bucket, rate: 7, burst: 5 } }");
  await until(() => changes.length > 0, "the change is reported");
  assertEquals(changes, [{ path: "/limiters/api/rate", old: 1, new: 7, inForce: "now" }]);
  writeFileSync(path, "limiters: { api: { type: bucket, rate: -7, burst: 0.5 } }");
  await until(() => errors.length > 0, "the broken file is reported");
  const error = errors[0];
  assert(error instanceof ConfigError);
  assert(error.message.startsWith(`Cannot reload config '${path}': it has 2 problems:\n`), error.message);
  assertEquals(error.issues.map(({ path }) => path), ["/limiters/api/rate", "/limiters/api/burst"]);
  assertEquals([bucket.rate, bucket.burst, changes.length], [7, 5, 1]);
});

Deno.test("watching: a URL and every format work", async () => {
  using folder = new Folder();
  const texts = {
    "a.json": newText,
    "a.jsonc": `{ "value": /* two */ 2, }`,
    "a.yml": "value: 2",
    "a.toml": "value = 2",
  };
  const files = Object.entries(texts).map(([name, text]) => new Watched(pathToFileURL(folder.write(name, text))));
  for (const file of files) {
    using watched = file;
    await watched.inForce(NEW);
    assertEquals(watched.errors, []);
  }
});

Deno.test("watching: a relative path keeps its meaning from when the watching began", async () => {
  using folder = new Folder();
  folder.write("a.json", oldText);
  const before = process.cwd();
  process.chdir(folder.path);
  using watched = new Watched("a.json");
  process.chdir(before);
  await watched.inForce(OLD);
});

Deno.test("watching: a file that is the same as when it was loaded is not reported, and a file changed since then is", async () => {
  using folder = new Folder();
  const loaded = new HandWatched(folder.write("a.json", oldText));
  const changed = new HandWatched(folder.write("b.json", newText));
  for (const watched of [loaded, changed]) await watched.look(MIN_LOOKS);
  assertEquals([loaded.reported, loaded.errors], [[], []]);
  assertEquals([changed.reported, changed.errors], [[[NEW]], []]);
});

Deno.test("watching: a file whose content stays the same is not reloaded, whatever is done to it", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  utimesSync(path, 0, 0);
  await watched.look(MIN_LOOKS);
  renameSync(folder.write("new", oldText), path);
  await watched.look(MIN_LOOKS);
  assertEquals([watched.config.documents, watched.reloads, watched.errors], [[OLD], [], []]);
});

Deno.test("watching: a file with another text and the same meaning is reported as unchanged", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  writeFileSync(path, `${oldText}\n`);
  await watched.look(TWICE);
  assertEquals(watched.reloads, [[]]);
});

Deno.test("watching: a broken file is reported once, with its name, and the previous config stays in force", async () => {
  using folder = new Folder();
  const path = folder.write("a.yaml", "value: 1");
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  writeFileSync(path, "value: [1,\n");
  await watched.look(TWICE);
  assertEquals(watched.errors.length, 1);
  assertStringIncludes(watched.messages[0]!, `Cannot read config '${path}': it is not valid YAML: `);
  assertStringIncludes(watched.messages[0]!, " at line 2, column 1");
  writeFileSync(path, "value: [1,\n");
  await watched.look(MIN_LOOKS);
  assertEquals([watched.config.documents, watched.errors.length], [[OLD], 1]);

  writeFileSync(path, "broken: twice");
  await watched.look(TWICE);
  const error = watched.errors[1];
  assert(error instanceof ConfigError);
  assertEquals(
    error.message,
    `Cannot reload config '${path}': it has 2 problems:\n  it is broken (at /broken, line 1, column 1)\n  so says twice`,
  );
  assertEquals(error.issues.map(({ path }) => path), ["/broken", ""]);

  writeFileSync(path, "value: 2");
  await watched.look(TWICE);
  assertEquals(watched.config.documents, [OLD, NEW]);
  writeFileSync(path, "broken: twice");
  await watched.look(TWICE);
  assertEquals(watched.errors.length, 3);
  assertEquals(watched.messages[2], watched.messages[1]);
  assertEquals(watched.config.documents, [OLD, NEW]);
});

Deno.test("watching: a broken file that gets the content in force again is reported as unchanged", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  writeFileSync(path, `{ "broken": 1 }`);
  await watched.look(TWICE);
  assertEquals(watched.errors.length, 1);
  writeFileSync(path, oldText);
  await watched.look(TWICE);
  assertEquals(watched.reloads, [[]]);
});

Deno.test("watching: any other error of a reload is reported as it is", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const reason = { not: "an error" };
  const watched = new HandWatched(path, undefined, () => {
    throw reason;
  });
  await watched.look(TWICE);
  assertEquals(watched.errors.length, 1);
  assert(watched.errors[0] === reason);
});

Deno.test("watching: a deleted file is reported once, and reloaded when it is back", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  unlinkSync(path);
  await watched.look(MIN_LOOKS - 1);
  assertEquals(watched.messages, []);
  await watched.look(1 + MIN_LOOKS);
  assertEquals(watched.messages, [`Cannot read config '${path}': there is no such file`]);
  writeFileSync(path, newText);
  await watched.look(TWICE);
  assertEquals(watched.config.documents, [OLD, NEW]);
  rmSync(folder.path, { recursive: true }); // also removes the folder that contains the file
  await watched.look(MIN_LOOKS);
  assertEquals(watched.errors.length, 2);
  assertEquals(watched.messages[1], watched.messages[0]);
  assertEquals(watched.config.documents, [OLD, NEW]);
});

Deno.test("watching: a file is not read while it is being written", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  for (let value = 3; value < 20; value++) {
    writeFileSync(path, JSON.stringify({ value }));
    await watched.look();
  }
  assertEquals(watched.config.documents, [OLD]);
  writeFileSync(path, newText);
  await watched.look(TWICE);
  assertEquals(watched.config.documents, [OLD, NEW]);
});

for (const [way, take] of Object.entries({ gone: unlinkSync, empty: (path: string) => truncateSync(path) })) {
  Deno.test(`watching: a file that is ${way} for a moment only is not reported`, async () => {
    using folder = new Folder();
    const path = folder.write("a.json", oldText);
    const watched = new HandWatched(path);
    await watched.look(TWICE);
    take(path);
    await watched.look(MIN_LOOKS - 1);
    writeFileSync(path, newText);
    await watched.look(TWICE);
    assertEquals([watched.config.documents, watched.errors], [[OLD, NEW], []]);
  });
}

Deno.test({
  name: "watching: a pipe is reported and not waited for, and the file that replaces it is reloaded",
  ignore: isWindows,
  async fn() {
    using folder = new Folder();
    const path = folder.write("config.json", oldText);
    const watched = new HandWatched(path);
    await watched.look(TWICE);
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await watched.look(MIN_LOOKS);
    assertEquals(watched.messages, [`Cannot read config '${path}': it is not a regular file`]);
    rmSync(path);
    writeFileSync(path, newText);
    await watched.look(TWICE);
    assertEquals(watched.config.documents, [OLD, NEW]);
  },
});

Deno.test("watching: a file that stays empty is reported once, like a broken file", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  truncateSync(path);
  await watched.look(2 * MIN_LOOKS);
  assertEquals([watched.errors.length, watched.config.documents], [1, [OLD]]);
});

Deno.test({
  name: "watching: a file that becomes unreadable is reported once, and reloaded when it is readable again",
  ignore: process.getuid?.() === 0 || isWindows, // root can read every file
  async fn() {
    using folder = new Folder();
    const path = folder.write("a.json", oldText);
    const watched = new HandWatched(path);
    await watched.look(TWICE);
    chmodSync(path, 0);
    await watched.look(2 * MIN_LOOKS);
    assertEquals(watched.messages, [`Cannot read config '${path}': permission denied`]);
    chmodSync(path, 0o600);
    writeFileSync(path, newText);
    await watched.look(TWICE);
    assertEquals(watched.config.documents, [OLD, NEW]);
  },
});

for (
  const [how, fail] of Object.entries({
    throws: () => {
      throw new Error("a bug");
    },
    rejects: () => Promise.reject(new Error("a bug")),
  })
) {
  Deno.test(`watching: continues when onReload ${how}, which is reported to onError, and when onError does`, async () => {
    using folder = new Folder();
    const path = folder.write("a.json", newText);
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      errors.push(error);
      return fail();
    };
    const watched = new HandWatched(path, { onReload: fail, onError });
    for (const [index, text] of [newText, `{ "broken": 1 }`, oldText].entries()) {
      writeFileSync(path, text);
      await watched.look(TWICE);
      await setImmediate(); // gives the runtime time to report the rejection
      assertEquals(errors.length, index + 1);
    }
    const messages = errors.map((error) => (error as Error).message);
    assertEquals([messages[0], messages[2], watched.config.documents], ["a bug", "a bug", [NEW, OLD]]);
  });
}

Deno.test("watching: without onError, problems are written to console.error", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", "[");
  const written: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => void written.push(args);
  try {
    const hidden = { [Symbol.toPrimitive]: () => fail() };
    const watched = new HandWatched(path, {
      onReload: () => {
        throw hidden;
      },
    });
    await watched.look(TWICE);
    writeFileSync(path, newText);
    await watched.look(TWICE);
  } finally {
    console.error = error;
  }
  assertEquals(written.map((args) => args.length), [1, 1]);
  assertStringIncludes(String(written[0]![0]), "JSON");
  assertEquals(written[1], ["an object"]);
});

function fail(): never {
  throw new Error("this must not be called");
}

Deno.test("watching: nothing is called after it was disposed, even if a check is in progress", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = new HandWatched(path);
  await watched.look(TWICE);
  writeFileSync(path, newText);
  await watched.look();
  const look = watched.look(MIN_LOOKS);
  watched.dispose();
  await look;
  unlinkSync(path);
  await watched.look(MIN_LOOKS);
  assertEquals([watched.config.documents, watched.reported, watched.errors], [[OLD], [], []]);
});

Deno.test("watching: nothing is called after it was disposed, however much time passes", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", oldText);
  const watched = await new Watched(path).begun();
  writeFileSync(path, newText);
  watched.watch[Symbol.dispose]();
  watched.watch[Symbol.dispose]();
  await looksPass();
  unlinkSync(path);
  await looksPass();
  assertEquals([watched.config.documents, watched.reported, watched.errors], [[OLD], [], []]);
});

Deno.test("watching: its callbacks may dispose it", async () => {
  using folder = new Folder();
  const path = folder.write("a.json", newText);
  const config = new StandIn();
  const calls: string[] = [];
  const watch = watchConfigFile(path, {
    reload(source) {
      const changes = config.reload(source);
      watch[Symbol.dispose]();
      return changes;
    },
  }, { onReload: () => void calls.push("onReload"), onError: () => void calls.push("onError") });
  await until(() => config.documents.length > 0, "it is in force");
  writeFileSync(path, oldText);
  await looksPass();
  assertEquals([config.documents, calls], [[NEW], []]);
});

Deno.test("watching: a path that can't be watched is refused at once", () => {
  const config = new StandIn();
  assertThrows(() => watchConfigFile("a.ini", config), Error, "its extension is none of");
  assertThrows(() => watchConfigFile(1 as never, config), RangeError, "'path' must be a path or a file: URL");
  assertThrows(
    () => watchConfigFile("a.json", {} as never),
    TypeError,
    "Cannot watch config file: 'config' must be a config returned by loadConfig, got an object",
  );
  assertThrows(
    () => watchConfigFile("a.json", config, { onRelaod: () => {} } as never),
    TypeError,
    `Cannot watch config file: "onRelaod" is not an option here; did you mean "onReload"?`,
  );
  assertThrows(() => watchConfigFile("a.json", config, { onError: 1 } as never), RangeError, "must be a function");
});
