/** Tests of syncing a report to disk. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { DiskSync } from "../../packages/cli/report/disk_sync.ts";

/** Simulated disk, on which each sync lasts until the test calls `end`. */
class Disk implements Disposable {
  readonly time = new FakeTime();
  /** Callbacks of the pending syncs. */
  readonly pending: ((error: Error | null) => void)[] = [];
  readonly errors: string[] = [];
  readonly syncs = new DiskSync(
    (callback) => this.pending.push(callback),
    ({ message }) => this.errors.push(message),
  );
  isFinished = false;

  finish(): void {
    this.syncs.finish().then(() => this.isFinished = true);
  }

  /** Ends the earliest pending sync. */
  async end(error: Error | null = null): Promise<void> {
    this.pending.shift()!(error);
    await this.time.runMicrotasks();
  }

  [Symbol.dispose](): void {
    this.time[Symbol.dispose]();
  }
}

Deno.test("disk sync: once a second while the file is written, and a last time at the end", async () => {
  using disk = new Disk();
  disk.time.tick(1000);
  disk.syncs.request();
  disk.syncs.request();
  assertEquals(disk.pending.length, 0);
  disk.time.tick(1000);
  assertEquals(disk.pending.length, 1);
  await disk.end();
  disk.time.tick(5000);
  assertEquals(disk.pending.length, 0, "nothing was written");
  disk.syncs.request();
  disk.finish();
  await disk.time.runMicrotasks();
  assertEquals([disk.pending.length, disk.isFinished], [1, false]);
  await disk.end();
  assertEquals([disk.pending.length, disk.isFinished, disk.errors], [0, true, []]);
});

Deno.test("disk sync: a file that was not written since the last sync is not synced again at the end", async () => {
  using disk = new Disk();
  disk.finish();
  await disk.time.runMicrotasks();
  assertEquals([disk.pending.length, disk.isFinished], [0, true]);
});

Deno.test("disk sync: a slow sync is waited for, and its error is kept", async () => {
  using disk = new Disk();
  disk.syncs.request();
  disk.time.tick(1000);
  disk.syncs.request();
  disk.time.tick(1000);
  assertEquals(disk.pending.length, 1, "no second sync begins beside it");
  disk.finish();
  await disk.time.runMicrotasks();
  assertEquals([disk.pending.length, disk.isFinished], [1, false]);
  await disk.end(new Error("the disk is full"));
  assertEquals([disk.pending.length, disk.isFinished], [1, false], "the last sync");
  await disk.end(new Error("the disk is broken"));
  assertEquals([disk.isFinished, disk.errors], [true, ["the disk is full", "the disk is broken"]]);
});
