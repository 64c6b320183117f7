import { withCode } from "@workqueue/core/internal";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Access, readKubeconfig } from "./kubeconfig.ts";

/**
 * Finds the server and credentials as controllers in Go do: the files in `KUBECONFIG`, the service account of the pod,
 * or `~/.kube/config`.
 *
 * @param account Folder of the service account.
 */
export function accessOf(
  env: Readonly<Record<string, string | undefined>>,
  context?: string,
  account = "/var/run/secrets/kubernetes.io/serviceaccount",
): Access {
  const { KUBECONFIG } = env; // read one after the other, because each variable needs a permission on Deno
  if (KUBECONFIG) return readKubeconfig([...new Set(KUBECONFIG.split(delimiter).filter(Boolean))], context);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenFile = `${account}/token`;
  if (host && port && context === undefined && existsSync(tokenFile)) {
    const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    return { cluster: { server, "certificate-authority": `${account}/ca.crt` }, user: { tokenFile } };
  }
  const path = join(env["HOME"] ?? env["USERPROFILE"] ?? "", ".kube", "config");
  if (existsSync(path)) return readKubeconfig([path], context);
  throw withCode(
    "WQ_CONFIG",
    new Error(`Cannot find an API server: KUBECONFIG is not set, this is not a pod, and there is no ${path}`),
  );
}
