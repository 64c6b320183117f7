/**
 * A polite crawler: fetches each page once, one at a time of a host and no two requests to a host closer than
 * {@linkcode INTERVAL}, and lets no host wait for another. A host waits for its turn in the queue, where it takes up
 * no worker. Ends when no page is left.
 *
 * ```sh
 * deno run -A examples/recipes/crawler.ts
 * bun examples/recipes/crawler.ts
 * ```
 *
 * @module
 */

import {
  createExponentialLimiter,
  createRateLimitingQueue,
  every,
  runWorkers,
  TerminalError,
  TokenBucket,
} from "@workqueue/core";
import { parse } from "node-html-parser";
import { serveSite } from "./site.ts";

/** How long after a request to a host the next one may begin, in milliseconds. */
export const INTERVAL = 50;

/** A host that is crawled: the pages that were found and not finished, and what lets a request begin. */
class Host {
  readonly pages: string[] = [];
  readonly starts = new TokenBucket(every(INTERVAL), 1);

  /** How long until a request may begin, in milliseconds. */
  get delay(): number {
    return Math.max(0, (1 - this.starts.tokens) * INTERVAL);
  }
}

/** Fetches these pages, and those of their hosts that can be reached from them. Resolves when none is left. */
export async function crawl(first: readonly string[], log: (line: string) => void, fetchPage = fetch): Promise<void> {
  const hosts = new Map(first.map((url) => [new URL(url).host, new Host()]));
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "100ms", maxDelay: "1m" }));
  const seen = new Set<string>();
  let left = 0;

  /** A host that has pages is in the queue already, or is being worked on. */
  function visit(url: URL): void {
    url.hash = "";
    const host = hosts.get(url.host);
    if (host === undefined || seen.has(url.href)) return;
    seen.add(url.href);
    left++;
    if (host.pages.push(url.href) === 1) queue.addAfter(url.host, host.delay);
  }

  /** Goes on with the host's next page. Ends all when nobody can find another page any more. */
  function finishPage(name: string): void {
    const host = hosts.get(name)!;
    host.pages.shift();
    if (--left === 0) queue.shutDown();
    else if (host.pages.length > 0) queue.addAfter(name, host.delay);
  }

  const pool = runWorkers(queue, async (name, { signal, attempt }) => {
    const { pages, starts } = hosts.get(name)!;
    const url = pages[0]!;
    await starts.wait(1, { signal }); // not at all, unless the backoff was shorter than the interval
    const response = await fetchPage(url, { signal });
    const page = await response.text();
    signal.throwIfAborted(); // a page whose time is up is tried again
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    if (!response.ok) throw new TerminalError(`status ${response.status}`); // as it will be the next time
    for (const link of parse(page).querySelectorAll("a[href]")) {
      const target = URL.parse(link.getAttribute("href")!, response.url);
      if (target !== null) visit(target);
    }
    log(`fetched ${url} at attempt ${attempt}`);
    finishPage(name);
  }, {
    concurrency: 8,
    maxRetries: 3,
    timeout: 10_000,
    onGiveUp: (error, name) => {
      log(`gave up ${hosts.get(name)!.pages[0]}: ${(error as Error).message}`);
      finishPage(name);
    },
  });

  for (const url of first) visit(new URL(url));
  await pool.finished;
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
