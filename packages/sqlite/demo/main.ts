/**
 * Demo of a queue in a file: a service accepts forty events and delivers each as a webhook. Meanwhile, the service is
 * killed three times with `kill -9`, and started again. Each event is delivered once.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSqliteQueue } from "../mod.ts";
import { Receiver } from "./receiver.ts";
import type { Report } from "./report.ts";

const EVENTS = Array.from({ length: 40 }, (_, i) => `event-${String(i + 1).padStart(2, "0")}`);
/** Events whose first delivery fails. */
const FAILING = ["event-07", "event-23"];
/** Numbers of received events at which the service is killed. */
const KILLED_AT = [8, 18, 28];
/** Milliseconds between two events, and between two tries to send one. */
const PAUSE = 30;
/** Arguments that the runtime requires before a script's path. */
const RUN = "Deno" in globalThis ? ["run", "-A"] : [];

const folder = mkdtempSync(join(tmpdir(), "workqueue-demo-"));
const path = join(folder, "queue.db");
const startedAt = performance.now();

function say(what: string): void {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${what}`);
}

const kills = [...KILLED_AT];
const receiver = new Receiver(FAILING, () => {
  if (receiver.received.size !== kills[0]) return;
  kills.shift();
  say(`${receiver.received.size} events are delivered; kill -9`);
  child?.kill("SIGKILL");
});

let child: ChildProcess | undefined;
/** Port of the running service; `undefined` while there is none. */
let port: number | undefined;
let isEnding = false;
let failures = 0;

/** Starts the service, and starts it again each time it is killed. Resolves when it ends by itself. */
async function keepRunning(target: string): Promise<void> {
  while (!isEnding) {
    const service = spawn(process.execPath, [
      ...RUN,
      fileURLToPath(new URL("service.ts", import.meta.url)),
      path,
      target,
    ], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child = service;
    createInterface(service.stdout).on("line", (line) => hear(JSON.parse(line)));
    await once(service, "close");
    port = undefined;
  }
}

function hear(report: Report): void {
  if (report.kind === "failed") {
    failures++;
    return say(`${report.event} failed: ${report.error}; it will be retried`);
  }
  port = report.port;
  say(`the service runs; ${report.waiting} events wait in its file`);
}

/** Sends an event to the service, again and again until it answers 202. */
async function send(event: string): Promise<void> {
  for (;;) {
    const answer = port === undefined ? undefined : await fetch(`http://127.0.0.1:${port}/${event}`).catch(() => {});
    await answer?.body?.cancel();
    if (answer?.status === 202) return;
    await delay(PAUSE);
  }
}

/** Resolves to the exit code of the demo when every event is delivered. */
async function work(): Promise<number> {
  say(`a service with a queue in ${path}`);
  const running = keepRunning(await receiver.start());
  for (const event of EVENTS) {
    await send(event);
    await delay(PAUSE);
  }
  say(`all ${EVENTS.length} events are accepted`);
  await using queue = createSqliteQueue({ name: "webhooks", path });
  await queue.whenIdle();
  isEnding = true;
  child?.kill("SIGTERM");
  await running;
  const { ready, delayed, processing, givenUp } = await queue.counts();
  console.log(`
accepted:       ${EVENTS.length} events, each on the disk before its 202
delivered:      ${receiver.received.size} events, each once
killed:         ${KILLED_AT.length - kills.length} times with kill -9
sent again:     ${receiver.repeated}, as the service was killed before it could note the answer; known by their keys
retried:        ${failures}, as the receiver answered 503
in the file:    ${ready} ready, ${delayed} delayed, ${processing} processing, ${givenUp} given up`);
  const isRight = receiver.received.size === EVENTS.length && kills.length === 0;
  return isRight && ready + delayed + processing + givenUp === 0 ? 0 : 1;
}

const interrupted = new Promise<number>((resolve) => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    process.on(signal, () => resolve(code)); // not `once`: `deno task` repeats signals
  }
});
try {
  process.exitCode = await Promise.race([work(), interrupted]);
} finally {
  isEnding = true;
  child?.kill("SIGKILL");
  receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
