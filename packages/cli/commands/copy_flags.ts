import type { Command } from "commander";
import { MAX_PARTITIONS, REDIS_VARIABLE } from "../remote/queue_flags.ts";
import { parseInteger } from "./option_values.ts";

/** Options of `workqueue copy`. */
export interface CopyFlags {
  /** Address of the server of queues that are given by name. */
  readonly redis?: string;
  /** Whether servers are nodes of clusters. */
  readonly cluster?: true;
  /** Path of the certificate of the authority that signed the certificates of servers. */
  readonly ca?: string;
  /** Numbers of partitions of the two queues. */
  readonly fromPartitions?: number;
  readonly toPartitions?: number;
  /** Whether the target may have items. */
  readonly merge?: true;
  /** Whether items that are processing are copied too. */
  readonly processing?: true;
  /** Whether the target stays paused. */
  readonly paused?: true;
  /** Whether to print nothing if all items were copied. */
  readonly quiet?: true;
}

const NOTES = `
FROM and TO are each a file (jobs.db, or jobs.db#images for one of its queues),
the name of a queue on the server of --redis, or the address of a server and the
name of a queue (redis://localhost:6379#images). Files require Deno, Bun, or
Node 22.13 or later.

Items keep their payloads, priorities, delays, failures and order. Given-up
items are copied too. Both queues are paused. At the end, TO is resumed, and
FROM stays paused, because its items would run twice. Nothing is removed.

If the command is interrupted, run it again with --merge.

Exit codes:
  0    all items were copied
  2    the command line or a file is wrong, TO has items, items of FROM are
       processing, or a server failed
  130  Ctrl-C; 143: SIGTERM

Examples:
  workqueue copy jobs.db redis://localhost:6379#jobs
  workqueue copy redis://localhost:6379#jobs jobs.db
  workqueue copy jobs.db#images backup.db#images`;

/** Adds the options of `workqueue copy` to a command. */
export function addCopyFlags(command: Command): Command {
  const partitions = (text: string) => parseInteger(text, 1, MAX_PARTITIONS);
  return command
    .description("Copy a queue in a file or on Redis to another file or server.")
    .argument("<from>", "queue to copy")
    .argument("<to>", "queue that receives the items")
    .option("--redis <url>", `server of a queue that is given by name; default: ${REDIS_VARIABLE}, or this machine`)
    .option("--cluster", "servers are nodes of clusters")
    .option("--ca <file>", "certificate (PEM) of the authority that signed the server's, for rediss:// URLs")
    .option("--from-partitions <n>", "number of partitions of FROM", partitions)
    .option("--to-partitions <n>", "number of partitions of TO", partitions)
    .option("--merge", "add to a queue that has items, which are left as they are; goes on after an interruption")
    .option("--processing", "copy items that are processing, too; they become ready")
    .option("--paused", "leave TO paused")
    .option("--quiet", "print nothing if all items were copied")
    .addHelpText("after", NOTES);
}
