/**
 * Process in which tests run the command many times, one run after the other. A process of its own takes a tenth of a
 * second of processor time until a command begins. Each line of standard input is an {@linkcode Order}. After the
 * output of each run, standard output and standard error have the mark of the order; that on standard output is
 * followed by the exit code.
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Order } from "./shared_command.ts";

// A script may send a signal to its run at the end of the run.
for (const signal of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"]) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const { args, directory, input, mark } = JSON.parse(line) as Order;
  const { main } = await import("../../packages/cli/main.ts");
  const { flushed, stderr, stdout } = await import("../../packages/cli/system/standard_streams.ts");
  process.chdir(directory);
  const code = await main([...args], Readable.from([Buffer.from(input, "base64")]));
  // A run listens for uncaught errors until its process ends.
  process.removeAllListeners("uncaughtException").removeAllListeners("unhandledRejection");
  stdout.write(`${mark}${code}\n`);
  stderr.write(`${mark}\n`);
  await flushed();
}
process.exit();
