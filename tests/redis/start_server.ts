/** Script that starts a server, prints its URL and never stops it. */

import { RedisServer } from "./server.ts";

const { url } = await RedisServer.start();
console.log(url);
