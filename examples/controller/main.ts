/**
 * Program that runs the controller of websites in a cluster.
 *
 * @module
 */

import { Manager } from "@workqueue/kubernetes";
import { controlWebsites } from "./controller.ts";

const manager = new Manager({
  name: "website-controller",
  lease: { name: "website-controller", namespace: "websites" },
  port: 8080,
});
controlWebsites(manager, {
  add: (host) => Promise.resolve(console.log(`${host} is in DNS`)), // the requests to your DNS service go here
  remove: (host) => Promise.resolve(console.log(`${host} is not in DNS`)),
});
await manager.run();
