/** Script that starts a server, prints its URL and keeps it running. */

import { RedisServer } from "./server.ts";

const { url } = await RedisServer.start();
console.log(url);
