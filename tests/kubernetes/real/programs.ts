/**
 * Servers of a Kubernetes cluster, built from the sources that the Go module proxy serves. The first build takes a few
 * minutes. The programs are kept in the user's cache folder.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { onPath } from "../../keeper.ts";

/** Whether programs can be built. */
export const HAS_GO: boolean = onPath("go") !== undefined;

/** Version of Kubernetes that the tests start by default. */
export const KUBERNETES = "1.34.2";

/** Newest version of Kubernetes that the tests start. */
export const NEWEST_KUBERNETES = "1.37.2";

/** Version of etcd. Lists in a watch need the progress notifications of version 3.4.25 or later. */
const ETCD = "3.6.16";

const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "workqueue", "kube");

/** Returns the path of `kube-apiserver`, and builds it first if needed. */
export async function apiServerProgram(version: string = KUBERNETES): Promise<string> {
  return await build(`kube-apiserver-${version}`, {
    module: () => apiServerModule(version),
    main: `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
`,
  });
}

/** Returns the path of `etcd`, and builds it first if needed. */
export async function etcdProgram(): Promise<string> {
  return await build(`etcd-${ETCD}`, {
    module: () => Promise.resolve(`module etcd\n\ngo 1.24\n\nrequire go.etcd.io/etcd/server/v3 v${ETCD}\n`),
    main: `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`,
  });
}

/** Program to build. */
export interface Program {
  /** Text of the module file, `go.mod`. */
  readonly module: () => Promise<string>;
  /** Text of `main.go`. */
  readonly main: string;
}

/** Builds a program, unless the cache has it. Returns its path. */
export async function build(name: string, { module, main }: Program): Promise<string> {
  const folder = join(CACHE, name);
  const path = join(folder, "program");
  const isBuilt = existsSync(path) && await readFile(join(folder, "main.go"), "utf8") === main;
  if (isBuilt) return path;
  console.log(`Building ${name}, once: a few minutes.`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "go.mod"), await module());
  await writeFile(join(folder, "main.go"), main);
  await go(folder, "mod", "tidy");
  const built = `${path}.${process.pid}`;
  await go(folder, "build", "-ldflags", "-s -w", "-o", built, ".");
  await rename(built, path); // a build that was stopped leaves no program
  return path;
}

async function apiServerModule(version: string): Promise<string> {
  const source = `k8s.io/kubernetes@v${version}`;
  const { Dir } = JSON.parse(await go(dirname(CACHE), "mod", "download", "-json", source)) as { Dir: string };
  const theirs = await readFile(join(Dir, "go.mod"), "utf8");
  const settings = theirs.split("\n").filter((line) => /^(go|godebug) /.test(line));
  const staged = [...theirs.matchAll(/(k8s\.io\/[a-z0-9-]+) => \.\/staging/g)].map(([, name]) => name!);
  const published = version.replace("1.", "0.");
  return [
    "module apiserver",
    ...settings,
    `require k8s.io/kubernetes v${version}`,
    ...staged.map((name) => `replace ${name} => ${name} v${published}`),
    "",
  ].join("\n");
}

async function go(cwd: string, ...args: string[]): Promise<string> {
  await mkdir(cwd, { recursive: true });
  const env = { ...process.env, CGO_ENABLED: "0" };
  const { stdout } = await promisify(execFile)("go", args, { cwd, env, maxBuffer: 2 ** 26 });
  return stdout;
}
