import { once } from "node:events";
import { connect, type ConnectionOptions } from "node:tls";
import type { Address } from "./address.ts";

/**
 * Connects to a server by TLS and waits for an answer. Needed on Deno: if a server refuses the client's certificate,
 * Deno reports this in the same turn of the event loop in which it reports a connection. The Redis client doesn't
 * listen to errors yet at this time, so the process would crash.
 *
 * @throws (as a rejection) If connecting fails, the server ends the connection, or the signal aborts.
 */
export async function probeTls(address: Address, timeout: number, signal: AbortSignal): Promise<void> {
  const { host, port, certificates } = address;
  const socket = connect({ host, port, ...certificates } as ConnectionOptions);
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    socket.destroy();
  };
  socket.on("error", fail).setTimeout(timeout, () => fail(new Error("the server does not answer")));
  const onAbort = () => fail(signal.reason);
  signal.addEventListener("abort", onAbort);
  socket.on("secureConnect", () => socket.write("PING\r\n"));
  try {
    await Promise.race([once(socket, "data"), once(socket, "close")]);
  } catch (error) {
    throw failure ?? error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    socket.destroy();
  }
  if (failure !== undefined) throw failure;
}
