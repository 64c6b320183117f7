/**
 * A site on loopback for `crawler.ts`, with pages that link to each other. One page responds to its first request with
 * an error, as an overloaded server would.
 *
 * @module
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Running site. Dispose the object to stop its server. */
export interface Site extends AsyncDisposable {
  readonly url: string;
}

/**
 * Serves pages. `links` maps the path of each page to the targets of the page's links. The page at `busy` responds to
 * its first request with an error.
 */
export async function serveSite(links: Record<string, string[]>, busy?: string): Promise<Site> {
  const server = createServer(({ url = "/" }, response) => {
    const targets = links[url];
    if (url === busy) {
      busy = undefined;
      response.writeHead(503).end();
    } else if (targets === undefined) response.writeHead(404).end();
    else response.end(targets.map((target) => `<a href="${target}">${target}</a>`).join("\n"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
