/** The suite for API servers, on a real one: it shows that the cluster for users' tests behaves as a real one. */

import { Client, type Transport } from "@workqueue/kubernetes";
import { HAS_OPENSSL } from "../../redis/certificates.ts";
import { apiServerSuite } from "../testing/api_server_suite.ts";
import { Cluster } from "./cluster.ts";
import { HAS_GO } from "./programs.ts";

/** Returns a transport that sends requests with the `fetch` of Deno. */
function transportTo({ api, authority, adminToken }: Cluster): Transport {
  const client = Deno.createHttpClient({ caCerts: [authority.ca] });
  return {
    async send({ method, path, headers, body, signal }) {
      const response = await fetch(api.url + path, {
        ...{ method, client, signal },
        headers: { ...headers, authorization: `Bearer ${adminToken}` },
        ...body !== undefined && { body },
      });
      const text = response.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
      return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
    },
    reset() {},
  };
}

if (HAS_GO && HAS_OPENSSL) {
  const cluster = await Cluster.start(); // all tests share it; its processes end with this one
  globalThis.addEventListener("unload", () => Deno.removeSync(cluster.folder, { recursive: true }));
  apiServerSuite("Kubernetes", () => ({ client: new Client({ transport: transportTo(cluster) }) }));
} else console.log("There is no Go or no openssl on the PATH: leaving out the suite on a real API server.");
