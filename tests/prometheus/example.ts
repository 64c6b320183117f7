/** Tests the example that serves metrics, in a process on any runtime. */

import { assertEquals, assertMatch } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Time limit in milliseconds, in case the process never answers. */
const DEADLINE = 60_000;

/** Starts the example with a command, scrapes its metrics until its work is done, and ends the process. */
export async function tryExample(command: readonly string[]): Promise<void> {
  const child = spawn(command[0]!, [...command.slice(1), "0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const text = await scrapeUntilDone(await portOf(child));
    assertMatch(text, /^# TYPE workqueue_queue_duration_seconds histogram$/m);
    assertMatch(text, /^workqueue_adds_total\{name="images"\} 2$/m);
    assertMatch(text, /^workqueue_depth\{name="images"\} 0$/m);
    assertMatch(text, /^workqueue_work_duration_seconds_bucket\{le="1000",name="images"\} 2$/m);
  } finally {
    const ended = once(child, "close");
    child.kill();
    await ended;
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  const said: string[] = [];
  for await (const line of createInterface(child.stdout!)) {
    said.push(line);
    const port = /\bport: (\d+)/.exec(said.join(" "))?.[1]; // some runtimes print an object on several lines
    if (port !== undefined) return Number(port);
  }
  throw new Error(`The example ended, having said ${said.join("\n")}`);
}

async function scrapeUntilDone(port: number): Promise<string> {
  const end = performance.now() + DEADLINE;
  while (true) {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await response.text();
    assertEquals(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    if (/^workqueue_work_duration_seconds_count\{name="images"\} 2$/m.test(text) || performance.now() > end) {
      return text;
    }
  }
}
