/**
 * A polite crawler. The crawler fetches each page once, and at most one page per host at a time. Requests to a host
 * start at least {@linkcode INTERVAL} apart. A slow host doesn't delay other hosts. The program ends when no page is
 * left.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/recipes/crawler.ts
 * bun examples/recipes/crawler.ts
 * ```
 *
 * @module
 */

import {
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  RetryAfterError,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { parse } from "node-html-parser";
import { serveSite } from "./site.ts";

/** Minimum time between the starts of two requests to a host, in milliseconds. */
export const INTERVAL = 50;

/** Duration of the pause if a host is too busy and does not send `Retry-After`, in milliseconds. */
const TOO_BUSY = 100;

const groupOf = (url: string) => new URL(url).host;

/**
 * Fetches the pages in `first`, and all pages on the same hosts that can be reached through links. Resolves when no
 * page is left.
 */
export async function crawl(first: readonly string[], log: (line: string) => void, fetchPage = fetch): Promise<void> {
  const allowed = new Set(first.map(groupOf));
  const seen = new Set<string>();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "100ms", maxDelay: "1m" }), {
    discipline: createFairDiscipline({ groupOf, maxPerGroup: 1 }),
  });

  function visit(url: URL): void {
    url.hash = "";
    if (!allowed.has(url.host) || seen.has(url.href)) return;
    seen.add(url.href);
    queue.add(url.href);
  }

  await using _pool = runWorkers(queue, async (url, { signal, attempt }) => {
    queue.pauseGroup(groupOf(url), INTERVAL);
    const response = await fetchPage(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const page = await response.text();
    const retryAfter = RetryAfterError.from(response)?.delay ?? TOO_BUSY;
    if (response.status === 429) throw new RetryAfterError(retryAfter, "too many requests", { scope: "group" });
    if (response.status === 503) queue.pauseGroup(groupOf(url), retryAfter); // and the failure is counted
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    if (!response.ok) throw new TerminalError(`status ${response.status}`); // not retried
    for (const link of parse(page).querySelectorAll("a[href]")) {
      const target = URL.parse(link.getAttribute("href")!, response.url);
      if (target !== null) visit(target);
    }
    log(`fetched ${url} at attempt ${attempt}`);
  }, { concurrency: 100, maxRetries: 3, onGiveUp: (error, url) => log(`gave up ${url}: ${(error as Error).message}`) });

  for (const url of first) visit(new URL(url));
  await queue.whenIdle();
}

if (import.meta.main) {
  await using blog = await serveSite({
    "/": ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/"],
    ...Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`/${i + 1}`, ["/", "/gone"]])),
  });
  await using shop = await serveSite({ "/": ["/cart", "/terms"], "/cart": ["/terms"], "/terms": ["/"] }, "/cart");
  await crawl(
    [blog.url, shop.url],
    (line) => console.log(line.replace(blog.url, "blog/").replace(shop.url, "shop/")),
  );
}
