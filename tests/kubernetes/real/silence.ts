/**
 * Connections whose other side is gone without a word, as after a power cut: nobody acknowledges what is sent. A proxy
 * that only stops reading is different, because the system still acknowledges for it.
 */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
/** Instruction of a socket filter that drops every packet: return 0. */
const DROP_ALL = new Uint8Array([0x06, 0, 0, 0, 0, 0, 0, 0]);

/** Makes the system drop every packet that arrives for a socket of this process (only on Linux, and on Deno). */
export function silence({ localPort, remotePort }: Socket): void {
  if (Deno.build.os !== "linux") throw new Error("Only Linux has socket filters");
  const inode = inodeOf(localPort!, remotePort!);
  const fd = readdirSync("/proc/self/fd").find((name) => linkOf(name) === `socket:[${inode}]`);
  if (inode === undefined || fd === undefined) return; // the connection has ended
  const program = new BigUint64Array([1n, Deno.UnsafePointer.value(Deno.UnsafePointer.of(DROP_ALL))]);
  const libc = Deno.dlopen("libc.so.6", {
    setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  });
  const result = libc.symbols.setsockopt(Number(fd), SOL_SOCKET, SO_ATTACH_FILTER, program, program.byteLength);
  libc.close();
  if (result !== 0) throw new Error("The system refused the socket filter");
}

/** Returns the number by which the system knows a connection. */
function inodeOf(localPort: number, remotePort: number): string | undefined {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  const line = readFileSync("/proc/net/tcp", "utf8").split("\n").map((text) => text.trim().split(/\s+/))
    .find(([, local, remote]) => local?.endsWith(`:${hex(localPort)}`) && remote?.endsWith(`:${hex(remotePort)}`));
  return line?.[9];
}

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined; // it was closed meanwhile
  }
}
