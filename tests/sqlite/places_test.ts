/** Tests of files that have several names: each name would have a log and locks of its own. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { delay } from "@std/async";
import { SqliteConnectionError, type SqliteQueue, sqliteQueueNames } from "@workqueue/sqlite";
import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { mountsIn, networkTypeOf } from "../../packages/sqlite/database/mounts.ts";
import { fileTest, type Folder } from "./files.ts";

const SUFFIXES = ["", "-wal", "-shm"];

/** Makes a folder beside the file of a test. Returns the path of a file in it. */
function pathIn(name: string, { path }: Folder): string {
  const folder = join(dirname(path), name);
  mkdirSync(folder);
  return join(folder, "queue.db");
}

/** Opens a file with another program, which does nothing. While it is open, the log and the shared memory exist. */
function openElsewhere(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.prepare("SELECT count(*) FROM items").get();
  return database;
}

/** Time, in milliseconds, after which a folder that has not changed is known. Deno reads coarser times of files. */
const KNOWN_AFTER = "Deno" in globalThis ? 2500 : 500;

/** Uses a queue until its folder has not changed for a while. */
async function rest(queue: SqliteQueue): Promise<void> {
  await queue.add("a");
  await delay(KNOWN_AFTER);
  await queue.add("a");
}

/** Adds an item again and again until an add is rejected. */
async function untilRejected(add: () => Promise<void>): Promise<SqliteConnectionError> {
  for (;;) {
    try {
      await add();
    } catch (error) {
      assert(error instanceof SqliteConnectionError);
      return error;
    }
  }
}

/** Mounts a file or folder at another path as well. Returns `undefined` if this user can't. */
function bind(from: string, to: string): Disposable | undefined {
  if (spawnSync("mount", ["--bind", from, to]).status === 0) {
    return { [Symbol.dispose]: () => void spawnSync("umount", ["--lazy", to]) };
  }
  console.log("left out: this user can't mount a file");
}

fileTest("a file with several hard links, or a log with several, is refused until one is left", async (folder) => {
  const { path } = folder;
  {
    await using queue = folder.open();
    await queue.add("a");
  }
  for (const suffix of SUFFIXES) {
    const program = openElsewhere(path);
    const link = `${path}.link`;
    linkSync(path + suffix, link);
    const before = readdirSync(dirname(path));
    const refused = `queue.db: ${suffix === "" ? "it" : path + suffix} has several names (hard links)`;
    assertThrows(() => folder.open(), Error, refused);
    assertThrows(() => sqliteQueueNames(path), Error, refused);
    if (suffix === "") assertThrows(() => folder.open({ path: link }), Error, "it has several names (hard links)");
    assertEquals(readdirSync(dirname(path)), before);
    rmSync(link);
    program.close();
  }
  await using queue = folder.open();
  assertEquals((await queue.counts()).ready, 1);
});

fileTest(
  "when an open file gets a second name in another folder, adds are rejected until it is gone",
  async (folder) => {
    const other = pathIn("other", folder);
    const queue = folder.open({ onQueueError() {} });
    for (const suffix of SUFFIXES) {
      await rest(queue);
      linkSync(folder.path + suffix, other);
      const { message, code } = await untilRejected(() => queue.add("b"));
      assert(message.includes(`queue.db${suffix} has several names (hard links)`), message);
      assertEquals(code, "WQ_CONNECTION");
      await assertRejects(() => queue.add("c"), SqliteConnectionError, "has several names");
      if (suffix === "") assertThrows(() => folder.open({ path: other }), Error, "it has several names (hard links)");
      rmSync(other);
      await queue.add(`after ${suffix}`);
    }
    await queue.shutDownWithDrain();
  },
);

fileTest("adds that needn't be on the disk are rejected too when the file gets a second name", async (folder) => {
  const other = pathIn("other", folder);
  const queue = folder.open({ durability: "normal", onQueueError() {} });
  await rest(queue);
  linkSync(folder.path, other);
  assert((await untilRejected(() => queue.add("b"))).message.includes("has several names"));
  rmSync(other);
  await queue.shutDownWithDrain();
});

fileTest("a file that is mounted by itself, or whose log is, is refused", async (folder) => {
  const other = pathIn("other", folder);
  const queue = folder.open();
  await queue.add("a");
  for (const suffix of SUFFIXES) {
    writeFileSync(other + suffix, "");
    using mount = bind(folder.path + suffix, other + suffix);
    if (mount === undefined) return;
    const refused = `${suffix === "" ? "it" : other + suffix} is mounted as a single file, without its log`;
    assertThrows(() => folder.open({ path: other }), Error, refused);
    if (suffix === "") assertThrows(() => sqliteQueueNames(other), Error, refused);
    mount[Symbol.dispose]();
    rmSync(other + suffix);
  }
  await queue.add("b");
  await queue.shutDownWithDrain();
});

fileTest("when something is mounted at the path of an open file, adds are rejected", async (folder) => {
  const other = pathIn("other", folder);
  for (const suffix of SUFFIXES) {
    const queue = folder.open({ onQueueError() {} });
    await rest(queue);
    writeFileSync(other, "");
    using mount = bind(other, folder.path + suffix);
    if (mount === undefined) return await queue.shutDownWithDrain();
    const { message } = await untilRejected(() => queue.add("b"));
    assert(message.includes(`queue.db${suffix} was removed or replaced while it was open`), message);
    await queue.shutDownWithDrain().catch(() => {});
  }
});

fileTest("a folder that is mounted twice, and symbolic links, have one log", async (folder) => {
  const { path } = folder;
  const names = ["link.db", "link of link.db"].map((name) => join(dirname(path), name));
  symlinkSync("queue.db", names[0]!);
  symlinkSync(names[0]!, names[1]!);
  const linked = join(dirname(path), "linked");
  const mounted = join(dirname(path), "mounted");
  const home = pathIn("home", folder);
  mkdirSync(mounted);
  symlinkSync("home", linked);
  using mount = bind(dirname(home), mounted);
  const ways = [[path, ...names], [home, join(linked, "queue.db")]];
  if (mount !== undefined) ways[1]!.push(join(mounted, "queue.db"));
  for (const paths of ways) {
    const queues = paths.map((path) => folder.open({ path }));
    await Promise.all(queues.flatMap((queue, i) => [1, 2, 3].map((n) => queue.add(`${i} ${n}`))));
    for (const queue of queues) assertEquals((await queue.counts()).ready, 3 * queues.length);
    for (const queue of queues) await queue.shutDownWithDrain();
  }
});

Deno.test("SQLite: file systems that several machines can share are recognized, also at the file itself", () => {
  const refused =
    "nfs nfs4 cifs smb3 9p virtiofs vboxsf vmhgfs prl_fs fakeowner ceph glusterfs lustre afs gfs2 ocfs2 " +
    "beegfs gpfs fuse fuse.sshfs fuse.s3fs fuse.grpcfuse fuse.vmhgfs-fuse";
  const accepted = "ext4 xfs btrfs zfs tmpfs overlay fuse.fuse-overlayfs fuseblk f2fs bcachefs";
  const mountsOf = (type: string, point: string) => mountsIn(`/dev/vda / ext4 rw 0 0\nx ${point} ${type} rw 0 0\n`);
  for (const type of refused.split(" ")) {
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data")), type);
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data/queue.db")), type);
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data/other.db")), undefined);
  }
  for (const type of accepted.split(" ")) {
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data")), undefined);
  }
  assert(mountsOf("ext4", "/my\\040data/queue.db").has("/my data/queue.db"));
  assert(!mountsOf("ext4", "/my\\040data").has("/my data/queue.db"));
});
