import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { serve as listen } from "@hono/node-server";
import type { WorkerPool } from "@workqueue/core";
import { allowToken, createDashboard, type Dashboard, type DashboardQueue } from "@workqueue/dashboard";
import type { OpenItem } from "../run/open_item.ts";
import type { MemorySource } from "../run/memory_source.ts";
import type { RunConfig } from "../config/run_config.ts";
import { UsageError } from "../system/usage_error.ts";

const HOST = "127.0.0.1";

/** Longest wait for pending responses after the end of the run, in milliseconds. */
const END_GRACE = 500;

/** Local server of a run's dashboard. Dispose the object to stop the server. */
export class DashboardServer implements AsyncDisposable {
  /** Address with a token. Anyone with the address can view and control the run. */
  readonly address: string;
  readonly #token: string;
  readonly #server: ReturnType<typeof listen>;
  #dashboard: Dashboard | undefined = undefined;

  private constructor(server: ReturnType<typeof listen>, token: string) {
    this.#server = server;
    this.#token = token;
    this.address = `http://${HOST}:${(server.address() as AddressInfo).port}/?token=${token}`;
  }

  /**
   * Starts listening. Call this function before the run begins, so that the run doesn't begin if the port is in use.
   *
   * @param port The port; 0 for any free port.
   * @returns The server. The dashboard shows no run until `show` is called.
   * @throws {UsageError} If the port can't be used.
   */
  static async open(port: number): Promise<DashboardServer> {
    const fetch = (request: Request, info: unknown) => opened.#answer(request, info);
    const server = listen({ fetch, hostname: HOST, port });
    try {
      await new Promise<void>((resolve, reject) => server.once("listening", resolve).once("error", reject));
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "it is in use" : (error as Error).message;
      throw new UsageError(`Cannot serve the dashboard on port ${port}: ${reason}`);
    }
    const opened = new DashboardServer(server, randomBytes(16).toString("hex"));
    return opened;
  }

  /** Starts showing a run. */
  show(source: MemorySource, pool: WorkerPool<OpenItem>, config: RunConfig): void {
    const shown: DashboardQueue<OpenItem> = {
      queue: source.queue,
      pool,
      keyText: ({ line }) => line.text,
      onTakeBack: (item) => source.takeBack(item),
    };
    const access = allowToken(this.#token);
    this.#dashboard = createDashboard({
      queues: { [config.queueName]: shown },
      config: config.config,
      view: access,
      control: access,
      ...(config.path === undefined ? {} : { readConfig: () => config.readDocument() }),
    });
  }

  async #answer(request: Request, info: unknown): Promise<Response> {
    return await this.#dashboard?.fetch(request, info) ?? new Response("The run has not started", { status: 503 });
  }

  /**
   * Stops the server after its pending responses have been sent. Even a request that removed the last item is answered.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#dashboard?.[Symbol.dispose]();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    if ("closeIdleConnections" in this.#server) this.#server.closeIdleConnections();
    await Promise.race([closed, delay(END_GRACE)]);
    if ("closeAllConnections" in this.#server) this.#server.closeAllConnections();
  }
}
