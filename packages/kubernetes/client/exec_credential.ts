import { systemClock } from "@workqueue/core";
import { messageOf, withCode } from "@workqueue/core/internal";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { Access, ClusterConfig, ExecConfig } from "./kubeconfig.ts";

/** Credentials that a command printed. */
export interface CommandCredential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
/** Longest time that the command may take, in milliseconds. */
const TIMEOUT = 60_000;
/** Time in milliseconds for which new credentials are kept even if the server refuses them. */
const MIN_AGE = 10_000;

/** Credentials from the command of a kubeconfig, such as that of a cloud. Runs it again when the credentials expire. */
export class ExecCredential {
  readonly #exec: ExecConfig;
  readonly #info: string;
  #current: Promise<CommandCredential> | undefined;
  #endsAt = Infinity;
  #beganAt = -Infinity;

  constructor({ cluster }: Access, exec: ExecConfig) {
    const { apiVersion = "", command, provideClusterInfo, interactiveMode } = exec;
    if (!command) throw broken(exec, "its command is missing");
    if (!VERSIONS.includes(apiVersion)) throw broken(exec, `its apiVersion must be ${VERSIONS.join(" or ")}`);
    if (interactiveMode === "Always") throw broken(exec, "it needs a terminal (interactiveMode: Always)");
    this.#exec = exec;
    const spec = { interactive: false, ...(provideClusterInfo && { cluster: clusterInfo(cluster) }) };
    this.#info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
  }

  /** Returns the current credentials. Runs the command if there are none, or they have expired. */
  get(): Promise<CommandCredential> {
    if (this.#current !== undefined && Date.now() < this.#endsAt) return this.#current;
    this.#endsAt = Infinity;
    this.#beganAt = systemClock.now();
    const current = this.#run();
    this.#current = current;
    current.then(({ expirationTimestamp }) => {
      if (expirationTimestamp !== undefined) this.#endsAt = Date.parse(expirationTimestamp) || Infinity;
    }, () => this.#current = undefined);
    return current;
  }

  /** Drops credentials that the server refused, unless they are new: many requests may have used the ones before. */
  expire(): void {
    if (systemClock.now() - this.#beganAt >= MIN_AGE) this.#endsAt = -Infinity;
  }

  async #run(): Promise<CommandCredential> {
    const { command, args, env, apiVersion } = this.#exec;
    const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const options = { env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: this.#info }, timeout: TIMEOUT };
    const output = await new Promise<string>((resolve, reject) => {
      const child = execFile(command!, [...args ?? []], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const hint = this.#exec.installHint;
        const isMissing = (error as { code?: unknown }).code === "ENOENT";
        const reason = isMissing ? "there is no such command" : stderr.trim().split("\n").at(-1) || error.message;
        reject(broken(this.#exec, hint ? `${reason}. ${hint}` : reason, error));
      });
      child.stdin?.end();
    });
    let result: { apiVersion?: string; status?: CommandCredential };
    try {
      result = JSON.parse(output);
    } catch (error) {
      throw broken(this.#exec, `its output is not JSON: ${messageOf(error)}`);
    }
    if (result.apiVersion !== apiVersion) throw broken(this.#exec, `its output is not of ${apiVersion}`);
    const { token, clientCertificateData: cert, clientKeyData: key } = result.status ?? {};
    if (!token && !cert || !cert !== !key) {
      throw broken(this.#exec, "it printed neither a token nor a certificate and key");
    }
    return result.status!;
  }
}

/** Returns the cluster in the form that the command receives. */
function clusterInfo({ extensions, "certificate-authority": path, ...fields }: ClusterConfig): object {
  const config = extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  const data = fields["certificate-authority-data"] ?? (path && readFileSync(path, "base64"));
  return { ...fields, ...(data && { "certificate-authority-data": data }), ...(config !== undefined && { config }) };
}

function broken({ command }: ExecConfig, reason: string, cause?: unknown): Error {
  return withCode("WQ_CONFIG", new Error(`Cannot get credentials from '${command}': ${reason}`, { cause }));
}
