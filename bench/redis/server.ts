/** Redis server for a benchmark, without persistence, on a free loopback port. */

import { createClient } from "@redis/client";
import { output } from "../machine.ts";

/** Name of the installed server program; `undefined` if none is installed. */
export const SERVER: string | undefined = await find("redis-server", "valkey-server");

const START_TIMEOUT = 10_000;

/** Statistics of scripts: the number of calls, and their times in microseconds. */
export interface ScriptTimes {
  readonly calls: number;
  readonly total: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

/** Server of the benchmark, with a connection for reading its statistics. */
export class Server implements AsyncDisposable {
  readonly port: number;
  readonly #process: Deno.ChildProcess;
  readonly #client: ReturnType<typeof connect>;

  private constructor(port: number, process: Deno.ChildProcess, client: ReturnType<typeof connect>) {
    this.port = port;
    this.#process = process;
    this.#client = client;
  }

  static async start(...more: string[]): Promise<Server> {
    const [port, folder] = [freePort(), await Deno.makeTempDir({ prefix: "workqueue_" })];
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
    const process = new Deno.Command(SERVER!, { args: [...args, ...more], stdout: "null", stderr: "null" }).spawn();
    for (const end = performance.now() + START_TIMEOUT;;) {
      const client = connect(port);
      try {
        await client.connect();
        return new Server(port, process, client);
      } catch (error) {
        if (performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async call(...command: string[]): Promise<unknown> {
    return await this.#client.sendCommand(command);
  }

  /** Returns the fields of one section of `INFO`. */
  async info(section: string): Promise<Record<string, string>> {
    const lines = String(await this.call("INFO", section)).split("\r\n").filter((line) => line.includes(":"));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
    );
  }

  /** Returns the name and the version of the server. */
  async version(): Promise<string> {
    const { redis_version, valkey_version } = await this.info("server");
    return valkey_version === undefined ? `Redis ${redis_version}` : `Valkey ${valkey_version}`;
  }

  /** Returns the CPU time that the server has used, in seconds. */
  async cpu(): Promise<number> {
    const { used_cpu_user, used_cpu_sys } = await this.info("cpu");
    return Number(used_cpu_user) + Number(used_cpu_sys);
  }

  /** Returns the memory that the server's data takes, in bytes. */
  async memory(): Promise<number> {
    return Number((await this.info("memory"))["used_memory"]);
  }

  /** Resets the script statistics. */
  async resetCounts(): Promise<void> {
    await this.call("CONFIG", "SET", "latency-tracking-info-percentiles", "50 99 100");
    await this.call("CONFIG", "RESETSTAT");
  }

  /** Returns the script statistics since the last reset. */
  async scripts(): Promise<ScriptTimes> {
    const counts = (await this.info("commandstats"))["cmdstat_evalsha"] ?? "";
    const times = (await this.info("latencystats"))["latency_percentiles_usec_evalsha"] ?? "";
    const number = (text: string, name: string) => Number(new RegExp(`\\b${name}=([\\d.]+)`).exec(text)?.[1]);
    return {
      calls: number(counts, "calls"),
      total: number(counts, "usec"),
      median: number(times, "p50"),
      p99: number(times, "p99"),
      worst: number(times, "p100"),
    };
  }

  async empty(): Promise<void> {
    await this.call("FLUSHALL", "SYNC");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}

function connect(port: number) {
  const client = createClient({ socket: { host: "127.0.0.1", port, reconnectStrategy: false }, RESP: 2 });
  client.on("error", () => {}); // each call reports its own error
  return client;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function find(...names: string[]): Promise<string | undefined> {
  for (const name of names) if (await output(name, ["--version"], ".") !== undefined) return name;
  return undefined;
}
