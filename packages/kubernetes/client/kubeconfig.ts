import { messageOf, withCode } from "@workqueue/core/internal";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";

/** Cluster in a kubeconfig. Paths are absolute once the file has been read. */
export interface ClusterConfig {
  readonly server?: string;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "proxy-url"?: string;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[];
}

/** User in a kubeconfig. Paths are absolute once the file has been read. */
export interface UserConfig {
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecConfig;
}

/** Command that prints credentials. */
export interface ExecConfig {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: string;
}

/** Server and credentials of a context. */
export interface Access {
  readonly cluster: ClusterConfig & { readonly server: string };
  readonly user: UserConfig;
}

interface Context {
  readonly cluster?: string;
  readonly user?: string;
}

/** Clusters, users and contexts of kubeconfig files, by their names. */
interface Kubeconfig {
  currentContext: string;
  readonly clusters: Map<string, ClusterConfig>;
  readonly users: Map<string, UserConfig>;
  readonly contexts: Map<string, Context>;
}

/** Fields that would be dangerous to ignore: they change the path to the server, or reduce the user's rights. */
const UNSUPPORTED = ["proxy-url", "auth-provider", "as", "as-uid", "as-groups", "as-user-extra"];

/**
 * Reads kubeconfig files and chooses a context. As in client-go, the first file that has a name wins, missing files are
 * ignored, and relative paths start at the folder of their file.
 *
 * @throws {Error} If a file can't be read, or if the context is missing, incomplete or needs what isn't supported. The
 * code is `WQ_CONFIG`.
 */
export function readKubeconfig(paths: readonly string[], context?: string): Access {
  const config: Kubeconfig = { currentContext: "", clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const path of paths) addFile(config, path);
  const files = paths.join(", ");
  const name = context ?? config.currentContext;
  if (!name) throw broken(files, "it has no current-context, and the option 'context' is not set");
  const find = <T>(kind: string, values: ReadonlyMap<string, T>, name: string | undefined): T => {
    const value = values.get(name ?? "");
    if (value === undefined) {
      throw broken(files, `there is no ${kind} "${name}". It has: ${[...values.keys()].join(", ")}`);
    }
    return value;
  };
  const found = find("context", config.contexts, name);
  const cluster = find("cluster", config.clusters, found.cluster);
  const user = found.user ? find("user", config.users, found.user) : {};
  const unsupported = [...Object.keys(cluster), ...Object.keys(user)].find((field) => UNSUPPORTED.includes(field));
  if (unsupported !== undefined) throw broken(files, `'${unsupported}' of the context "${name}" is not supported`);
  if (!/^https?:/.test(cluster.server ?? "")) throw broken(files, `the server of "${found.cluster}" must be a URL`);
  return { cluster: cluster as Access["cluster"], user };
}

function addFile(config: Kubeconfig, path: string): void {
  let file: Record<string, unknown>;
  try {
    file = parse(readFileSync(path, "utf8")) ?? {};
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return;
    throw broken(path, messageOf(error), error);
  }
  const absolute = (entry: object, ...fields: string[]) =>
    Object.fromEntries(
      Object.entries(entry).map(([key, value]) =>
        fields.includes(key) && value ? [key, resolve(dirname(path), value)] : [key, value]
      ),
    );
  const add = <T>(values: Map<string, T>, list: string, field: string, convert: (entry: object) => object) => {
    for (const { name, [field]: value } of (file[list] ?? []) as { name: string; [field: string]: unknown }[]) {
      if (!values.has(name)) values.set(name, convert(value ?? {}) as T);
    }
  };
  config.currentContext ||= file["current-context"] as string;
  add(config.contexts, "contexts", "context", (entry) => entry);
  add(config.clusters, "clusters", "cluster", (entry) => absolute(entry, "certificate-authority"));
  add(config.users, "users", "user", (entry) => {
    const user: UserConfig = absolute(entry, "client-certificate", "client-key", "tokenFile");
    const isPath = user.exec?.command?.includes("/");
    return isPath ? { ...user, exec: absolute(user.exec!, "command") } : user;
  });
}

function broken(path: string, reason: string, cause?: unknown): Error {
  return withCode("WQ_CONFIG", new Error(`Cannot use kubeconfig ${path}: ${reason}`, { cause }));
}
