/** Cluster for tests: a real API server and etcd, on free ports of the loopback interface, in a temporary folder. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../keeper.ts";
import { Authority } from "../../redis/certificates.ts";
import { Admin } from "./admin.ts";
import { apiServerProgram, etcdProgram } from "./programs.ts";
import { ServerProcess } from "./server_process.ts";

/** Options for starting a cluster. */
export interface ClusterOptions {
  /** Version of Kubernetes. Default: the one that all tests use. */
  readonly version?: string;
  /** Further flags of the API server. */
  readonly flags?: readonly string[];
  /** Whether etcd syncs its file before it answers. Default: `false`, which is faster. */
  readonly isDurable?: boolean;
}

/** Token of the administrator. */
const ADMIN_TOKEN = "token-of-admin";

/** Credentials for a kubeconfig: one field per way to authenticate. */
export type User = Readonly<Record<string, unknown>>;

/** Process of an API server. */
export class ApiServer {
  readonly url: string;

  constructor(readonly process: ServerProcess, port: number, readonly admin: Admin) {
    this.url = `https://127.0.0.1:${port}`;
  }

  /** Starts the process and waits until it is ready. */
  async start(): Promise<void> {
    await this.process.start();
    await this.process.ready(() => this.admin.isReady());
  }

  /** Kills the process, and starts it again. */
  async restart(): Promise<void> {
    await this.process.kill();
    await this.start();
  }
}

/** Cluster that runs until it is disposed or this process ends. */
export class Cluster implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "workqueue_kubernetes_"));
  /** Authority that signed the certificate of the API server, and signs those of clients. */
  readonly authority = new Authority();
  readonly #options: ClusterOptions;
  readonly #servers: ApiServer[] = [];
  #etcd!: ServerProcess;
  #etcdUrl = "";
  #files = 0;

  private constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Starts etcd and an API server, and waits until they are ready. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** First API server. */
  get api(): ApiServer {
    return this.#servers[0]!;
  }

  /** Requests to the first API server, as its administrator. */
  get admin(): Admin {
    return this.api.admin;
  }

  /** Token of the administrator. */
  readonly adminToken = ADMIN_TOKEN;

  /** Process of etcd. */
  get etcd(): ServerProcess {
    return this.#etcd;
  }

  /** Tokens that API servers know from their next start on, as users by tokens. Not in a group with any rights. */
  tokens: Record<string, string> = { "token-of-controller": "controller" };

  /** URL of etcd. */
  get etcdUrl(): string {
    return this.#etcdUrl;
  }

  /** Starts a further API server on the same etcd, which it reaches by `etcdUrl`. */
  async addApiServer(flags: readonly string[] = [], etcdUrl: string = this.#etcdUrl): Promise<ApiServer> {
    const port = await freePort();
    const folder = join(this.folder, `api-${this.#servers.length + 1}`);
    mkdirSync(folder);
    const file = (name: string) => join(this.authority.folder, name);
    const options = {
      "etcd-servers": etcdUrl,
      "secure-port": port,
      "bind-address": "127.0.0.1",
      "endpoint-reconciler-type": "none",
      "cert-dir": join(folder, "certificates"),
      "tls-cert-file": file("api.crt"),
      "tls-private-key-file": file("api.key"),
      "client-ca-file": file("ca.crt"),
      "service-account-key-file": file("accounts.crt"),
      "service-account-signing-key-file": file("accounts.key"),
      "service-account-issuer": "https://kubernetes.default.svc",
      "token-auth-file": join(this.folder, "tokens.csv"),
      "authorization-mode": "RBAC",
      "service-cluster-ip-range": "10.0.0.0/24",
      "disable-admission-plugins": "ServiceAccount",
      "profiling": "false",
    };
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const given = [...this.#options.flags ?? [], ...flags];
    const server = new ServerProcess(folder, [await apiServerProgram(this.#options.version), ...words, ...given]);
    const api = new ApiServer(server, port, new Admin(`https://127.0.0.1:${port}`, this.authority.ca, ADMIN_TOKEN));
    this.#servers.push(api);
    this.writeTokens();
    await api.start();
    return api;
  }

  /** Writes the tokens to the file that an API server reads at its start. */
  writeTokens(): void {
    const users = Object.entries(this.tokens).map(([token, user]) => `${token},${user},${user}\n`);
    writeFileSync(join(this.folder, "tokens.csv"), [`${ADMIN_TOKEN},admin,admin,system:masters\n`, ...users].join(""));
  }

  /** Writes a kubeconfig and returns its path. Default: the administrator, with the first API server. */
  kubeconfig({ url = this.api.url, user = { token: ADMIN_TOKEN }, cluster = {} }: {
    readonly url?: string;
    readonly user?: User;
    readonly cluster?: Readonly<Record<string, unknown>>;
  } = {}): string {
    const path = join(this.folder, `kubeconfig-${++this.#files}`);
    const authority = { "certificate-authority": join(this.authority.folder, "ca.crt") };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "tests", cluster: { server: url, ...authority, ...cluster } }],
      users: [{ name: "tests", user }],
      contexts: [{ name: "tests", context: { cluster: "tests", user: "tests" } }],
      "current-context": "tests",
    };
    writeFileSync(path, JSON.stringify(config)); // JSON is YAML too
    return path;
  }

  /** Creates a namespace. */
  async namespace(name: string): Promise<string> {
    await this.admin.create("/api/v1/namespaces", { metadata: { name } });
    return name;
  }

  /** Removes all earlier versions from etcd, so that a watch can't begin at them. */
  async compact(): Promise<void> {
    const { header: { revision } } = await this.#callEtcd("kv/range", { key: btoa("/"), limit: 1 });
    await this.#callEtcd("kv/compaction", { revision, physical: true });
  }

  /** Copies the data of etcd, as a backup does. Stops it meanwhile. */
  async backUp(): Promise<void> {
    await this.#etcd.kill();
    await cp(join(this.#etcd.folder, "data"), join(this.folder, "backup"), { recursive: true });
    await this.#startEtcd();
  }

  /** Replaces the data of etcd by those of the backup, with all API servers stopped, and starts everything. */
  async restore(): Promise<void> {
    for (const { process } of this.#servers) await process.kill();
    await this.#etcd.kill();
    await rm(join(this.#etcd.folder, "data"), { recursive: true });
    await cp(join(this.folder, "backup"), join(this.#etcd.folder, "data"), { recursive: true });
    await this.#startEtcd();
    for (const server of this.#servers) await server.start();
  }

  /** Ends all processes and removes all files. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process, admin } of this.#servers) {
      await process.stop();
      admin[Symbol.dispose]();
    }
    await this.#etcd?.stop();
    this.authority[Symbol.dispose]();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(): Promise<void> {
    this.authority.sign("api", "subjectAltName=DNS:localhost,DNS:cluster.test,IP:127.0.0.1");
    this.authority.sign("accounts", "basicConstraints=CA:FALSE");
    const [client, peer] = [await freePort(), await freePort()];
    this.#etcdUrl = `http://127.0.0.1:${client}`;
    const options = {
      "data-dir": "data",
      "listen-client-urls": this.#etcdUrl,
      "advertise-client-urls": this.#etcdUrl,
      "listen-peer-urls": `http://127.0.0.1:${peer}`,
      "initial-advertise-peer-urls": `http://127.0.0.1:${peer}`,
      "initial-cluster": `default=http://127.0.0.1:${peer}`,
      "log-level": "error",
      ...!this.#options.isDurable && { "unsafe-no-fsync": true },
    };
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    this.#etcd = new ServerProcess(join(this.folder, "etcd"), [await etcdProgram(), ...words]);
    await this.#startEtcd();
    await this.addApiServer();
  }

  async #startEtcd(): Promise<void> {
    await this.#etcd.start();
    await this.#etcd.ready(async () => (await fetch(`${this.#etcdUrl}/health`)).ok);
  }

  // deno-lint-ignore no-explicit-any -- the response depends on the call
  async #callEtcd(call: string, body: unknown): Promise<any> {
    const response = await fetch(`${this.#etcdUrl}/v3/${call}`, { method: "POST", body: JSON.stringify(body) });
    return await response.json();
  }
}
