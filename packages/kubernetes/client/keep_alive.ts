import type { Socket } from "node:net";

/** Time in milliseconds in which nothing arrives before the system probes the other side. */
const IDLE = 15_000;
/** Interval in milliseconds in which the time is set again. */
const INTERVAL = 2000;

/**
 * Makes the system end a connection whose other side is gone: on Linux, within 25 s on Node and Bun and 35 s on Deno.
 *
 * Node and Bun ask the system for ten probes, one per second, after the idle time. Deno leaves the system's nine probes
 * with 75 s between them. But setting the idle time again makes Linux probe at once if nothing has arrived for that
 * long, so nine settings are enough. The time alternates, because the runtimes skip calls that change nothing.
 *
 * A proxy that holds the connection answers the probes itself, even if the server behind it is gone. Only the idle
 * timeout of the request helps there.
 */
export function keepAlive(socket: Pick<Socket, "setKeepAlive" | "once">): void {
  let idle = IDLE;
  const set = () => {
    idle = idle === IDLE ? IDLE + 1000 : IDLE;
    socket.setKeepAlive(true, idle);
  };
  set();
  const timer = setInterval(set, INTERVAL);
  socket.once("close", () => clearInterval(timer));
}
