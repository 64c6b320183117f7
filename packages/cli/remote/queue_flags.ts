import type { Command } from "commander";
import { parseInteger } from "../commands/option_values.ts";

/** Options of all commands that use a queue that processes share. */
export interface QueueFlags {
  /** Name of the queue on a server, or a file: see `queueFileOf`. */
  readonly queue: string;
  /** Address of the server. Default: the address in the environment, or else a server on this machine. */
  readonly redis?: string;
  /** Whether the address is that of a node of a cluster. */
  readonly cluster?: true;
  /** Path of the certificate of the authority that signed the server's certificate. */
  readonly ca?: string;
  /** Number of partitions of the queue. */
  readonly partitions?: number;
}

/** Largest number of partitions of a queue. */
export const MAX_PARTITIONS = 256;

const NOTES = `
If --queue ends in .db, .sqlite or .sqlite3, the queue is in that file, which
the processes of this machine share. jobs.db is the only queue of the file, and
jobs.db#images is its queue "images". Requires Deno, Bun, or Node 22.13 or later.`;

/** Environment variable with the default of `--redis`. */
export const REDIS_VARIABLE = "WORKQUEUE_REDIS";

/** Adds the options that name a queue on a server or in a file. */
export function addQueueFlags(command: Command): Command {
  return command
    .requiredOption("--queue <queue>", "name of the queue on the server, or a file, such as jobs.db or jobs.db#images")
    .option(
      "--redis <url>",
      `address of Redis or Valkey; default: ${REDIS_VARIABLE}, or redis://localhost:6379`,
    )
    .option("--cluster", "the address is that of a node of a cluster")
    .option("--ca <file>", "certificate (PEM) of the authority that signed the server's, for rediss:// URLs")
    .option("--partitions <n>", "number of partitions of the queue", (text) => parseInteger(text, 1, MAX_PARTITIONS))
    .addHelpText("after", NOTES);
}
