import { systemClock } from "@workqueue/core";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { type CommandCredential, ExecCredential } from "./exec_credential.ts";
import type { Access } from "./kubeconfig.ts";
import type { TlsOptions } from "./pool.ts";

/** Age in milliseconds at which a file is read again. Service accounts get a new token long before theirs expires. */
const MAX_AGE = 10_000;

/** Certificates and headers with which requests reach a cluster as a user. Files are read again when they change. */
export class Credentials {
  readonly #access: Access;
  readonly #command: ExecCredential | undefined;
  /** Latest contents of files by their paths, and the times at which they were read. */
  readonly #files = new Map<string, { readonly content: string; readAt: number }>();
  /** Certificates and the key in the kubeconfig itself. */
  readonly #data: Readonly<Record<"ca" | "cert" | "key", string | undefined>>;
  #tls: TlsOptions = {};

  constructor(access: Access) {
    const { cluster, user } = access;
    this.#access = access;
    this.#data = {
      ca: pemOf(cluster["certificate-authority-data"]),
      cert: pemOf(user["client-certificate-data"]),
      key: pemOf(user["client-key-data"]),
    };
    this.#command = user.exec && new ExecCredential(access, user.exec);
  }

  /** Returns the options of connections: the same object until one of them changes. */
  async tls(): Promise<TlsOptions> {
    const { cluster, user } = this.#access;
    const { clientCertificateData, clientKeyData }: CommandCredential = await this.#command?.get() ?? {};
    const tls = [
      ["ca", this.#data.ca ?? this.#file(cluster["certificate-authority"])],
      ["cert", clientCertificateData ?? this.#data.cert ?? this.#file(user["client-certificate"])],
      ["key", clientKeyData ?? this.#data.key ?? this.#file(user["client-key"])],
      ["servername", cluster["tls-server-name"]],
      ["rejectUnauthorized", !cluster["insecure-skip-tls-verify"]],
    ] as const;
    if (tls.some(([name, value]) => value !== this.#tls[name])) {
      this.#tls = Object.fromEntries(tls.filter(([, value]) => value !== undefined));
    }
    return this.#tls;
  }

  /** Returns the headers of a request. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    const { tokenFile, username, password = "" } = this.#access.user;
    const ofCommand = (await this.#command?.get())?.token;
    const token = ofCommand ?? (tokenFile ? this.#read(tokenFile).trim() : this.#access.user.token);
    if (token) return { authorization: `Bearer ${token}` };
    return username ? { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` } : {};
  }

  /** Makes the next request read files and run the command again. */
  refresh(): void {
    for (const file of this.#files.values()) file.readAt = -Infinity;
    this.#command?.expire();
  }

  #file(path: string | undefined): string | undefined {
    return path ? this.#read(path) : undefined;
  }

  /** Returns the content of a file. If the file can no longer be read, returns its latest content. */
  #read(path: string): string {
    const now = systemClock.now();
    const known = this.#files.get(path);
    if (known !== undefined && now - known.readAt < MAX_AGE) return known.content;
    let content = known?.content;
    try {
      content = readFileSync(path, "utf8");
    } catch (error) {
      if (content === undefined) throw error;
    }
    this.#files.set(path, { content, readAt: now });
    return content;
  }
}

function pemOf(base64: string | undefined): string | undefined {
  return base64 ? Buffer.from(base64, "base64").toString("utf8") : undefined;
}
