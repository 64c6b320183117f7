/** Finds the API server as in a pod, and then asks the one in KUBECONFIG for its version and opens a watch. */

import { Client } from "@workqueue/kubernetes";
import process from "node:process";
import { accessOf } from "../../../../packages/kubernetes/client/environment.ts";
import { Credentials } from "../../../../packages/kubernetes/client/credentials.ts";

const [account, isPod] = process.argv.slice(2);
if (isPod === "pod") {
  const credentials = new Credentials(accessOf(process.env, undefined, account));
  console.log(JSON.stringify([await credentials.headers(), await credentials.tls()]));
} else {
  const client = Client.fromEnvironment();
  console.log(JSON.stringify(await client.request("GET", "/version")));
  const { signal } = new AbortController();
  for await (const event of client.watch("/watch", { signal })) console.log(JSON.stringify(event));
  client.close();
}
