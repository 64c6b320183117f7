/**
 * A polite crawler: fetches each page once, no host faster than its own bucket allows, and no host held up by
 * another. A page waits for its host in the queue, where it takes up no worker. Ends when no page is left.
 *
 * ```sh
 * deno run -A examples/recipes/crawler.ts
 * bun examples/recipes/crawler.ts
 * ```
 *
 * @module
 */

import {
  createBucketLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createRateLimitingQueue,
  type RateLimiter,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { parse } from "node-html-parser";
import { serveSite } from "./site.ts";

/** A bucket for each host: of the pages of one host, 20 a second are let through. */
class PerHostLimiter implements RateLimiter<string> {
  readonly #buckets = new Map<string, RateLimiter>();

  when(url: string): number {
    const { host } = new URL(url);
    let bucket = this.#buckets.get(host);
    if (bucket === undefined) this.#buckets.set(host, bucket = createBucketLimiter({ rate: 20, burst: 1 }));
    return bucket.when(url);
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }
}

await using blog = await serveSite({
  "/": ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/"],
  ...Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`/${i + 1}`, ["/", "/gone"]])),
});
await using shop = await serveSite({ "/": ["/cart", "/terms"], "/cart": ["/terms"], "/terms": ["/"] }, "/cart");
const starts = [blog.url, shop.url];
const hosts = new Set(starts.map((url) => new URL(url).host));

const perHost = new PerHostLimiter();
const backoff = createExponentialLimiter<string>({ baseDelay: "100ms", maxDelay: "1m" });
const queue = createRateLimitingQueue<string>(createMaxOfLimiter(perHost, backoff)); // for retries
const seen = new Set<string>();
let left = 0;

function visit(url: URL): void {
  url.hash = "";
  if (!hosts.has(url.host) || seen.has(url.href)) return;
  seen.add(url.href);
  left++;
  queue.addAfter(url.href, perHost.when(url.href));
}

/** Ends all when nobody can find another page any more. */
function leave(): void {
  if (--left === 0) queue.shutDown();
}

const pool = runWorkers(queue, async (url, { signal, attempt }) => {
  const response = await fetch(url, { signal });
  const page = await response.text();
  if (response.status >= 500) throw new Error(`status ${response.status}`);
  if (!response.ok) throw new TerminalError(`status ${response.status}`); // as it will be the next time
  for (const link of parse(page).querySelectorAll("a[href]")) {
    const target = URL.parse(link.getAttribute("href")!, response.url);
    if (target !== null) visit(target);
  }
  console.log(`fetched ${name(url)} at attempt ${attempt}`);
  leave();
}, {
  concurrency: 8,
  maxRetries: 3,
  timeout: 10_000,
  onGiveUp: (error, url) => {
    console.log(`gave up ${name(url)}: ${(error as Error).message}`);
    leave();
  },
});

for (const url of starts) visit(new URL(url));
await pool.finished;

function name(url: string): string {
  return url.replace(blog.url, "blog/").replace(shop.url, "shop/");
}
