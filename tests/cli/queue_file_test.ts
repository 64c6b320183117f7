/** Tests of how the option `--queue` names a queue in a file, and of files that can't be used. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { sqliteQueueNames } from "@workqueue/sqlite";
import { queueFileOf } from "../../packages/cli/remote/queue_file.ts";
import { OWN_PROCESS, someRuntimes, Workspace } from "./cli.ts";

Deno.test("queue file: a value of --queue that ends like a file name is a file, possibly followed by a queue name", () => {
  const files = Object.entries({
    "jobs.db": ["jobs.db"],
    "/srv/a b/jobs.sqlite": ["/srv/a b/jobs.sqlite"],
    "jobs.sqlite3#images": ["jobs.sqlite3", "images"],
    "a#1/jobs.db#images/small#2": ["a#1/jobs.db", "images/small#2"],
    "a.db#b.db": ["a.db", "b.db"],
  });
  for (const [queue, [path, name]] of files) assertEquals(queueFileOf(queue), { path: path!, name }, queue);
  for (const queue of ["images", ".db", "jobs.db2", "jobs.dbx#images", "jobs.db/images", "images#jobs"]) {
    assertEquals(queueFileOf(queue), undefined, queue);
  }
});

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`queue file, ${runtime}: without a name, the only queue of the file is used, and a new file gets a default one`, async () => {
    await using workspace = new Workspace(runtime);
    const path = `${workspace.directory}/jobs.db`;
    assertEquals(await workspace.run(["push", "--queue", "jobs.db"], "a\n"), {
      code: 0,
      stdout: "",
      stderr: "Added 1 line.\n",
    });
    assertEquals(sqliteQueueNames(path), ["default"]);
    assertMatch(
      (await workspace.run(["status", "--queue", "jobs.db"])).stdout,
      /^Queue +default\nFile +jobs\.db\nReady +1/,
    );

    await workspace.run(["push", "--queue", "other.sqlite#images"], "a\nb\n");
    const work = await workspace.run(["work", "--queue", "other.sqlite", "--until-empty", "-j1", "--", "echo", "did"]);
    assertEquals([work.code, work.stdout], [0, "did a\ndid b\n"]);
    assertEquals(sqliteQueueNames(`${workspace.directory}/other.sqlite`), ["images"]);

    await workspace.run(["push", "--queue", "jobs.db#images"], "c\n");
    assertEquals(sqliteQueueNames(path), ["default", "images"]);
    const unclear = ["--queue", "jobs.db"];
    const commands = [["push", ...unclear], ["status", ...unclear], ["dead", "list", ...unclear]];
    for (const command of [...commands, ...["work", "run"].map((name) => [name, ...unclear, "--", "true"])]) {
      const { code, stderr } = await workspace.run(command);
      assertEquals(code, 2);
      const [has, option] = [`'jobs.db' has "default", "images"`, "--queue 'jobs.db#default'"];
      assertEquals(stderr, `workqueue: Cannot choose a queue: ${has}; name one, as in ${option}\n`);
    }
    assertMatch((await workspace.run(["status", "--queue", "jobs.db#images"])).stdout, /^Queue +images\n.*\nReady +1/);
  });
}

Deno.test("queue file: commands that only read a queue create neither a file nor a queue", async () => {
  await using workspace = new Workspace();
  const looks = [["status"], ["dead", "list"], ["dead", "redrive"], ["dead", "discard", "--all"]];
  const fail = async (queue: string, message: string) => {
    for (const look of looks) {
      const { code, stdout, stderr } = await workspace.run([...look, "--queue", queue]);
      assertEquals(
        { code, stdout, stderr },
        { code: 2, stdout: "", stderr: `workqueue: ${message}\n` },
        look.join(" "),
      );
    }
  };
  await fail("jobs.db", "Cannot use 'jobs.db': there is no such file");
  await fail("jobs.db#images", "Cannot use 'jobs.db': there is no such file");
  assertEquals(workspace.files(), []);
  workspace.write("empty.db", "");
  await fail("empty.db", "Cannot use 'empty.db': there is no queue in it");
  assertEquals(workspace.read("empty.db"), "");
  await workspace.run(["push", "--queue", "jobs.db#images"], "a\n");
  await fail("jobs.db#imgaes", `Cannot use 'jobs.db': there is no queue "imgaes" in it, only "images"`);
  assertEquals(sqliteQueueNames(`${workspace.directory}/jobs.db`), ["images"]);
});

Deno.test("queue file: a file that can't be used is an error with the reason", async () => {
  await using workspace = new Workspace();
  workspace.write("text.db", "not a database".repeat(1000));
  Deno.mkdirSync(`${workspace.directory}/folder.db`);
  const wrong: [args: string[], message: RegExp][] = [
    [["--queue", "text.db"], /Cannot open text\.db: it is damaged, or no SQLite database/],
    [["--queue", "folder.db"], /Cannot open folder\.db: it is a folder/],
    [["--queue", "jobs.db#"], /Cannot use queue 'jobs\.db#': write its name after #, or leave out #/],
  ];
  for (const [args, message] of wrong) {
    for (const command of ["push", "status", "work", "run"]) {
      const operands = ["work", "run"].includes(command) ? ["--", "true"] : [];
      const { code, stdout, stderr } = await workspace.run([command, ...args, ...operands], "a\n");
      assertEquals([code, stdout], [2, ""], `${command} ${args}`);
      assertMatch(stderr, message);
    }
  }
  const { code, stderr } = await workspace.run(["push", "--queue", "nowhere/jobs.db"], "a\n");
  assertEquals(code, 2);
  assertMatch(stderr, /^workqueue: Cannot open nowhere\/jobs\.db: its folder does not exist/);
  assertEquals(workspace.files(), ["folder.db", "text.db"]);
});

Deno.test("queue file: a file with several hard links is refused, and no command changes it", async () => {
  await using workspace = new Workspace(OWN_PROCESS);
  await workspace.run(["push", "--queue", "jobs.db"], "a\n");
  Deno.mkdirSync(`${workspace.directory}/other`);
  Deno.linkSync(`${workspace.directory}/jobs.db`, `${workspace.directory}/other/jobs.db`);
  const files = workspace.files();
  for (const path of ["jobs.db", "other/jobs.db"]) {
    for (const command of ["push", "status", "work", "run"]) {
      const operands = ["work", "run"].includes(command) ? ["--", "true"] : [];
      const { code, stdout, stderr } = await workspace.run([command, "--queue", path, ...operands], "b\n");
      assertEquals([code, stdout], [2, ""], command);
      assertStringIncludes(stderr, `Cannot open ${path}: it has several names (hard links)`);
    }
  }
  assertEquals(workspace.files(), files);
});

Deno.test("queue file: a read-only folder is an error with that reason", async () => {
  await using workspace = new Workspace(OWN_PROCESS);
  const folder = `${workspace.directory}/folder`;
  Deno.mkdirSync(folder);
  if (spawnSync("mount", ["-t", "tmpfs", "tmpfs", folder]).status !== 0) {
    console.log("left out: this user can't mount a file system");
    return;
  }
  try {
    await workspace.run(["push", "--queue", "folder/jobs.db"], "a\n");
    // With the log that a process may leave behind, SQLite could open the file. The last one that closes it removes it.
    const database = new DatabaseSync(`${folder}/jobs.db`);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    spawnSync("mount", ["-o", "remount,ro", folder]);
    for (const path of ["folder/jobs.db", "folder/new.db"]) {
      const { code, stderr } = await workspace.run(["push", "--queue", path], "b\n");
      assertEquals(code, 2);
      assertStringIncludes(stderr, `${path}: the file or its folder can't be read or written`);
    }
    assert(!Deno.readDirSync(folder).some(({ name }) => name.startsWith("new.db")));
  } finally {
    spawnSync("umount", [folder]);
  }
});

Deno.test("queue file: on a full disk, the queue can be read, and a run prints its error once", async () => {
  await using workspace = new Workspace(OWN_PROCESS);
  const folder = `${workspace.directory}/folder`;
  Deno.mkdirSync(folder);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]).status !== 0) {
    console.log("left out: this user can't mount a file system");
    return;
  }
  try {
    const queue = ["--queue", "folder/jobs.db"];
    await workspace.run(["run", "-j1", "--retries", "0", ...queue, "--", "false", ":::", "bad"]);
    const list = Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`).join("");
    const full = await workspace.run(["run", "-j1", ...queue, "--", "true"], list); // a result is not stored, either
    assertEquals(full.code, 2);
    const errors = full.stderr.split("\n").filter((line) => line.includes("Cannot write to"));
    assertEquals(errors.length, 1, full.stderr);
    assertMatch(full.stderr, /: the disk is full [^\n]*\(after \d+ lines had been added\)\n$/);
    const status = await workspace.run(["status", ...queue]);
    assertEquals([status.code, status.stderr], [0, ""]);
    assertStringIncludes(status.stdout, "Given up    1\n");
    const dead = await workspace.run(["dead", "list", ...queue]);
    assertEquals([dead.code, dead.stderr], [0, ""]);
    assertStringIncludes(dead.stdout, "bad");
  } finally {
    spawnSync("umount", [folder]);
  }
});

Deno.test("queue file: options of a server are refused with a file", async () => {
  await using workspace = new Workspace();
  const options = { "--redis": ["redis://localhost"], "--cluster": [], "--ca": ["ca.pem"], "--partitions": ["4"] };
  for (const [option, value] of Object.entries(options)) {
    for (const command of [["push"], ["status"], ["dead", "list"], ["work"]]) {
      const operands = command[0] === "work" ? ["--", "true"] : [];
      const args = [...command, "--queue", "jobs.db", option, ...value, ...operands];
      assertEquals(await workspace.run(args, "a\n"), {
        code: 2,
        stdout: "",
        stderr: `workqueue: Cannot use ${option}: the queue is in the file 'jobs.db', not on a server\n`,
      });
    }
  }
  const both = await workspace.run(["push", "--cluster", "--queue", "jobs.db", "--redis", "redis://localhost"]);
  assertStringIncludes(both.stderr, "Cannot use --redis, --cluster: the queue is in the file");
  assertEquals(workspace.files(), []);
  // The variable with the address of a server is no option.
  const { code } = await workspace.run(["push", "--queue", "jobs.db"], "a\n", `WORKQUEUE_REDIS=redis://localhost "$@"`);
  assertEquals(code, 0);
});
