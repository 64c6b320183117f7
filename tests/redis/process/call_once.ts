/**
 * Script that connects with a URL, with a given client or with other options as JSON, makes one call, subscribes to a
 * channel, releases the connection, and prints the results. The process must then exit by itself.
 */

import { createClient } from "@redis/client";
import process from "node:process";
import { connect } from "../../../packages/redis/connection/connect.ts";
import { createScript } from "../../../packages/redis/connection/script.ts";

const [url, by = "url", callTimeout = "10000"] = process.argv.slice(2);
const client = by === "client" ? createClient({ url: url! }) : undefined;
client?.connect().catch(() => {}); // the call reports the error
const connection = connect("connect", {
  ...client === undefined ? { url: url! } : { client },
  ...by.startsWith("{") && JSON.parse(by),
  callTimeout: Number(callTimeout),
});

function print(result: unknown): void {
  console.log(result instanceof Error ? result.message : result);
}

const half = createScript(`return ARGV[1] / 2`);
await Promise.all([
  connection.run(half, "key", [84]).then(print, print),
  connection.subscribe("channel", () => {}).then(() => print("listening"), print),
]);
await connection.release();
client?.destroy();
