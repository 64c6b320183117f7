/**
 * Controller of websites: each website gets a config map in the cluster and a name in DNS.
 *
 * @module
 */

import type { KubeObject, Manager } from "@workqueue/kubernetes";
import type { ConfigMap } from "kubernetes-types/core/v1";
import type { Website } from "./website.ts";

/** Names outside the cluster. Both functions may be called more than once. */
export interface Dns {
  add(host: string): Promise<void>;
  remove(host: string): Promise<void>;
}

/** Adds the controller to a manager. */
export function controlWebsites(manager: Manager, dns: Dns): void {
  const websites = manager.cache<Website>("example.dev/v1", "Website");
  const configMaps = manager.cache<ConfigMap & KubeObject>("v1", "ConfigMap", { labelSelector: "example.dev/website" });

  manager.control(websites, {
    owns: [configMaps],
    finalizer: "example.dev/dns",
    changed: (website, before) => website.metadata.generation !== before.metadata.generation,
    cleanup: (website) => dns.remove(website.spec.host),
    async reconcile(website) {
      const { namespace, name, generation } = website.metadata;
      const { host } = website.spec;
      const metadata = { namespace, name, labels: { "example.dev/website": "" } };
      await configMaps.apply({ metadata, data: { host } }, { owner: website });
      await dns.add(host);
      if (website.status?.observedGeneration === generation) return;
      await websites.patch(website, { status: { observedGeneration: generation! } }, { subresource: "status" });
    },
  });
}
