/**
 * Prints a line when it is ready, and sends requests to a server on this machine until its standard input ends. Then
 * prints how long the answers took, in milliseconds.
 *
 *     deno run -A bench/peers/asker.ts keep-alive PORT
 *
 * @module
 */

import { Agent, get } from "node:http";
import process from "node:process";
import { percentileOf } from "../statistics.ts";

const MS_BETWEEN_REQUESTS = 20;

const [, , connection, port] = process.argv;
await ask(connection!, Number(port));

/** Sends a request about every 20 ms until its standard input ends, without waiting for earlier answers. */
async function ask(connection: string, port: number): Promise<void> {
  const agent = new Agent({ keepAlive: connection === "keep-alive", maxSockets: Infinity });
  const waits: number[] = [];
  const request = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now();
      get({ host: "127.0.0.1", port, agent }, (response) => {
        response.resume().on("end", () => {
          waits.push(performance.now() - began);
          resolve();
        });
      }).on("error", reject);
    });
  for (let i = 0; i < 10; i++) await request(); // warms up
  waits.length = 0;
  console.log("ready");
  let isOver = false;
  process.stdin.on("end", () => isOver = true).resume();
  const open: Promise<void>[] = [];
  while (!isOver) {
    open.push(request());
    await new Promise((resolve) => setTimeout(resolve, MS_BETWEEN_REQUESTS * (0.5 + Math.random())));
  }
  await Promise.all(open);
  const [median, p99, worst] = [50, 99, 100].map((percent) => percentileOf(waits, percent));
  console.log(JSON.stringify({ median, "99th percentile": p99, worst }));
  process.exit();
}
