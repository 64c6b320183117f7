/** What tests need that start real servers: to find them, a port for them, and an end that comes in any case. */

import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";

/**
 * What `sh -c` runs, with the words of a command, to start a server in the folder where it is. It prints the server's
 * process id, and ends when the server ends. The test holds the other end of the standard input: when the test ends,
 * however it does, that is closed, and the server is killed and its folder removed.
 */
export const KEEPER = `
exec 3<&0
"$@" > server.log 2>&1 < /dev/null &
server=$!
echo $server
(read -r _ <&3; rm -rf "$PWD"; kill -9 $server) > /dev/null 2>&1 &
exec 3<&-
wait $server
kill $!
`;

/** The first executable with one of these names on the PATH. */
export function onPath(...names: string[]): string | undefined {
  return (process.env["PATH"] ?? "").split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);
}

/** A port of the loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
