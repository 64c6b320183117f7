/**
 * Works on items for some minutes, and records the load. Writes the trace to a file, and prints the waits as JSON.
 * Argument: a run in JSON, the path of the trace.
 *
 * @module
 */

import { loadConfig } from "@workqueue/core";
import { recordTimes } from "@workqueue/core/metrics";
import { recordLoad } from "@workqueue/simulate";
import { appendFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { RandomNumbers } from "../../../packages/simulate/random/random_numbers.ts";
import { ADDS, configOf, type Run, type Waits } from "./runs.ts";

const [, , json, path] = process.argv;
const run = JSON.parse(json!) as Run;
const random = RandomNumbers.for(run.name.length + run.name.charCodeAt(run.name.length - 1), run.runtime);
const draw = (count: number) => Math.floor(random.uniform() * count);
const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

const config = loadConfig(configOf(run));
const queue = config.queue<string>("jobs");
const waits: number[] = [];
recordTimes(queue, { waited: (ms) => void waits.push(ms), worked() {} });
const [least, most] = run.work;
const pool = config.runWorkers("jobs", queue, async () => {
  await sleep(least + random.uniform() * (most - least));
  if (random.uniform() < run.failing) throw new Error("this attempt fails");
}, { onError() {}, onGiveUp() {} });

writeFileSync(path!, "");
{
  await using recording = recordLoad(queue, pool, (lines) => appendFileSync(path!, lines), {
    separator: run.groups > 1 ? "/" : undefined,
    plainKeys: true, // hashes would triple the size of the trace when it is compressed
  });
  const interval = (least + most) / 2 * run.burst / (run.utilization * run.concurrency);
  for (let i = 0; i < ADDS; i++) {
    // Timers are late by up to some milliseconds, which only makes arrivals a little rarer.
    if (i % run.burst === 0) await sleep(random.exponential() * interval);
    const key = String(run.keys === undefined ? i : draw(run.keys));
    const priority = draw(run.priorities);
    queue.add(run.groups > 1 ? `group ${draw(run.groups)}/${key}` : key, { priority });
  }
  await queue.whenIdle();
  if (recording.dropped > 0) throw new Error("events were dropped");
}
queue.shutDown();
await pool.finished;

waits.sort((a, b) => a - b);
const rank = (share: number) => waits[Math.ceil(share * waits.length) - 1]!;
const measured: Waits = { p50: rank(0.5), p99: rank(0.99) };
console.log(JSON.stringify(measured));
