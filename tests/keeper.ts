/** Helpers for tests that start real servers: executables, free ports, and a server that always ends with the test. */

import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";

/**
 * Script for `sh -c` that starts a server in the current folder. The script's arguments are the server's command. The
 * script prints the server's process ID and ends when the server ends. The test keeps the script's standard input open.
 * When the test ends for any reason, the standard input is closed, so the script kills the server and removes the
 * folder.
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

/** Returns the first executable with one of these names on the PATH. */
export function onPath(...names: string[]): string | undefined {
  return (process.env["PATH"] ?? "").split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);
}

/** First port and number of ports that systems don't give to outgoing connections. */
const [FIRST_PORT, PORTS] = [10_000, 20_000];

/**
 * Returns a free loopback port, chosen at random. A port that the system chose could be given to an outgoing connection
 * before a server listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue; // it is in use
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
