import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { type CommandCredential, ExecCredential } from "./exec_credential.ts";
import { FreshFile } from "./fresh_file.ts";
import type { Access } from "./kubeconfig.ts";
import type { TlsOptions } from "./pool.ts";

/** Returns the current text of a certificate, key or token. */
type Source = () => string | undefined;

/** Certificates and headers with which requests reach a cluster as a user. Files are read again when they change. */
export class Credentials {
  readonly #access: Access;
  readonly #files: FreshFile[] = [];
  readonly #command: ExecCredential | undefined;
  readonly #sources: { readonly ca: Source; readonly cert: Source; readonly key: Source; readonly token: Source };
  #tls: TlsOptions = {};

  constructor(access: Access) {
    const { cluster, user } = access;
    this.#access = access;
    this.#command = user.exec && new ExecCredential(access, user.exec);
    const tokenFile = this.#file(user.tokenFile);
    this.#sources = {
      ca: this.#pem(cluster["certificate-authority-data"], cluster["certificate-authority"]),
      cert: this.#pem(user["client-certificate-data"], user["client-certificate"]),
      key: this.#pem(user["client-key-data"], user["client-key"]),
      token: () => tokenFile()?.trim() ?? user.token,
    };
  }

  /** Returns the options of connections: the same object until one of them changes. */
  async tls(): Promise<TlsOptions> {
    const { clientCertificateData, clientKeyData }: CommandCredential = await this.#command?.get() ?? {};
    const { "insecure-skip-tls-verify": isUnchecked, "tls-server-name": servername } = this.#access.cluster;
    const { ca, cert, key } = this.#sources;
    const tls = {
      ...{ ca: ca(), cert: clientCertificateData ?? cert(), key: clientKeyData ?? key(), servername },
      rejectUnauthorized: !isUnchecked,
    };
    const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
    if (!isDeepStrictEqual(given, this.#tls)) this.#tls = given;
    return this.#tls;
  }

  /** Returns the headers of a request. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    const { username, password = "" } = this.#access.user;
    const token = (await this.#command?.get())?.token ?? this.#sources.token();
    if (token) return { authorization: `Bearer ${token}` };
    return username ? { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` } : {};
  }

  /** Makes the next request read files and run the command again. */
  refresh(): void {
    for (const file of this.#files) file.expire();
    this.#command?.expire();
  }

  #pem(data: string | undefined, path: string | undefined): Source {
    if (!data) return this.#file(path);
    const text = Buffer.from(data, "base64").toString("utf8");
    return () => text;
  }

  #file(path: string | undefined): Source {
    if (!path) return () => undefined;
    const file = new FreshFile(path);
    this.#files.push(file);
    return () => file.read();
  }
}
