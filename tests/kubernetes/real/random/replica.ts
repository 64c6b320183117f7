/** Process of the greeter with a proxy of its own, for random runs. */

import type { Cluster } from "../cluster.ts";
import { ControllerProcess } from "../controller_process.ts";
import { TcpProxy } from "../tcp_proxy.ts";

/** Settings of the greeter: events are not healed by attempts that a delay causes. */
const SETTINGS = { LEASE: "greeter", LEASE_DURATION: "5000", REQUEUE: "10h", WORK: "200" };

/** One of the processes that share a lease. */
export class Replica implements AsyncDisposable {
  /** Whether the process stood still for a while. */
  wasFrozen = false;

  private constructor(readonly process: ControllerProcess, readonly proxy: TcpProxy) {}

  /** Starts a process on a runtime. */
  static async start(runtime: string, cluster: Cluster): Promise<Replica> {
    const proxy = await TcpProxy.start(cluster.api.url);
    const process = await ControllerProcess.greeter(runtime, cluster.kubeconfig({ url: proxy.url }), SETTINGS);
    return new Replica(process, proxy);
  }

  /** Ends all faults of the network. */
  heal(): void {
    this.proxy.closeEvery(0);
    this.proxy.slow(0);
    this.proxy.cut(false);
    this.proxy.refuse(false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}
