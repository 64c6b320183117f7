/** Certificates for tests of TLS, created by `openssl`. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onPath } from "../keeper.ts";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

/** Whether certificates can be created on this machine. */
export const HAS_OPENSSL: boolean = onPath("openssl") !== undefined;

/** Certificate and its private key, in PEM form. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Authority that signs certificates. Its files are removed when it is disposed. */
export class Authority implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "workqueue_certificates_"));
  /** Certificate of the authority, in PEM form. */
  readonly ca: string;

  constructor() {
    this.#openssl("req", "-x509", ...NEW_KEY, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt");
    this.ca = this.#read("ca.crt");
  }

  /** Creates a certificate with this name. Its files are `NAME.crt` and `NAME.key`. */
  sign(name: string, extension: string): Certificate {
    writeFileSync(join(this.folder, `${name}.ext`), extension);
    this.#openssl("req", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const by = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
    this.#openssl("x509", "-req", "-in", `${name}.csr`, ...by, "-extfile", `${name}.ext`, "-out", `${name}.crt`);
    return { cert: this.#read(`${name}.crt`), key: this.#read(`${name}.key`) };
  }

  /** Creates a certificate for a server on the loopback interface. Returns the options with which Redis uses it. */
  signServer(): string[] {
    this.sign("server", "subjectAltName=DNS:localhost,DNS:queues.test,IP:127.0.0.1");
    const file = (name: string) => join(this.folder, name);
    const certificate = ["--tls-cert-file", file("server.crt"), "--tls-key-file", file("server.key")];
    return [...certificate, "--tls-ca-cert-file", file("ca.crt")];
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { cwd: this.folder, stdio: "ignore" });
  }

  #read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }
}
