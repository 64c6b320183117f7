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

/** Content of a file that doesn't exist. */
const MISSING: Readonly<Record<string, unknown>> = {};
/** Fields that are paths. */
const PATHS = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];
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
  const all = paths.join(", ");
  const files = paths.map((path) => ({ path, content: read(path) }));
  const find = <T extends object>(field: string, name = ""): T => {
    const entries = files.flatMap(({ path, content }) =>
      ((content[`${field}s`] ?? []) as { readonly name: string; readonly [field: string]: unknown }[])
        .map((entry) => ({ path, name: entry.name, value: (entry[field] ?? {}) as T }))
    );
    const found = entries.find((entry) => entry.name === name);
    if (found !== undefined) return withAbsolutePaths(found.value, dirname(found.path));
    throw broken(all, `there is no ${field} "${name}". It has: ${entries.map(({ name }) => name).join(", ")}`);
  };
  const name = context ?? files.map(({ content }) => content["current-context"] as string).find(Boolean);
  if (files.every(({ content }) => content === MISSING)) throw broken(all, "there is no such file");
  if (!name) throw broken(all, "it has no current-context, and the option 'context' is not set");
  const { cluster: clusterName, user: userName } = find<Context>("context", name);
  const cluster = find<ClusterConfig>("cluster", clusterName);
  const user: UserConfig = userName ? find<UserConfig>("user", userName) : {};
  const unsupported = [...Object.keys(cluster), ...Object.keys(user)].find((field) => UNSUPPORTED.includes(field));
  if (unsupported !== undefined) throw broken(all, `'${unsupported}' of the context "${name}" is not supported`);
  if (!/^https?:/.test(cluster.server ?? "")) throw broken(all, `the server of "${clusterName}" must be a URL`);
  return { cluster: cluster as Access["cluster"], user };
}

function read(path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(readFileSync(path, "utf8")) ?? {};
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return MISSING;
    throw broken(path, messageOf(error), error);
  }
}

/** Returns an entry of a file with absolute paths. A command without a slash is looked for in `PATH`. */
function withAbsolutePaths<T extends object>(entry: T, folder: string): T {
  const absolute = ([field, value]: [string, unknown]) => {
    if (field === "exec" && value) return [field, withAbsolutePaths(value as object, folder)];
    const isPath = PATHS.includes(field) || field === "command" && String(value).includes("/");
    return [field, isPath && value ? resolve(folder, String(value)) : value];
  };
  return Object.fromEntries(Object.entries(entry).map(absolute)) as T;
}

function broken(path: string, reason: string, cause?: unknown): Error {
  return withCode("WQ_CONFIG", new Error(`Cannot use kubeconfig ${path}: ${reason}`, { cause }));
}
