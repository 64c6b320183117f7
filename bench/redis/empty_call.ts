import { createClient } from "@redis/client";

/**
 * Calls an empty script many times, one call after the other. Returns the microseconds per call. No contender can be
 * faster than an empty script.
 */
export async function measureEmptyCall({ url, times }: { url: string; times: number }): Promise<number> {
  const client = createClient({ url, RESP: 2 });
  await client.connect();
  const sha1 = String(await client.sendCommand(["SCRIPT", "LOAD", "return 0"]));
  const start = performance.now();
  for (let i = 0; i < times; i++) await client.sendCommand(["EVALSHA", sha1, "0"]);
  const time = performance.now() - start;
  await client.close();
  return time * 1000 / times;
}
