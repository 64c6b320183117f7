/** Tests in which processes that share a file are killed. */

import { assert, assertEquals } from "@std/assert";
import { LineProcess } from "../../line_process.ts";
import { Folder } from "../files.ts";

const WORKER = new URL("worker.ts", import.meta.url);

Deno.test("SQLite: items acknowledged before a process was killed are still there, and the file is sound", async () => {
  using folder = new Folder();
  const adder = new LineProcess(WORKER, "add", folder.path, "1000000");
  await adder.until(({ length }) => length >= 50);
  await adder.kill();
  const queue = folder.open();
  const { readyItems } = await queue.snapshot({ limit: 1000 });
  const there = new Set(readyItems.map((item) => typeof item === "string" ? item : item.item));
  assert(there.size < 1000);
  assertEquals(adder.lines.filter((line) => !there.has(line.replace("added ", ""))), []);
  await queue.shutDownWithDrain();
});

Deno.test("SQLite: the items of a killed worker go to another process, and none is processed twice at once", async () => {
  using folder = new Folder();
  const queue = folder.open({ leaseDuration: "1s" });
  await queue.addAll(["a", "b", "c", "d"]);
  const hanging = new LineProcess(WORKER, "hang", folder.path);
  await hanging.until(({ length }) => length === 2);
  const other = new LineProcess(WORKER, "drain", folder.path);
  await other.until((lines) => lines.filter((line) => line.startsWith("ended")).length === 2);
  assertEquals(other.lines.some((line) => hanging.lines.includes(line)), false);
  await hanging.kill();
  await other.ended;
  const ended = other.lines.filter((line) => line.startsWith("ended"));
  assertEquals(ended.map((line) => line.slice(6)).sort(), ["a", "b", "c", "d"]);
  assert(hanging.lines.every((line) => other.lines.includes(line)));
  await queue.shutDownWithDrain();
});

Deno.test("SQLite: an idle process is woken by an add in another one", async () => {
  using folder = new Folder();
  const queue = folder.open();
  const idle = new LineProcess(WORKER, "work", folder.path);
  await queue.add("first");
  await idle.until((lines) => lines.includes("ended first"));
  await queue.whenIdle();
  await queue.add("second");
  await idle.until((lines) => lines.includes("ended second"));
  await idle.kill();
  await queue.shutDownWithDrain();
});
