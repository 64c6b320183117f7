import type { Connection } from "../../../packages/redis/connection/connection.ts";
import type { RedisEngineSettings } from "../../../packages/redis/engine.ts";
import type { Scripts } from "../../../packages/redis/scripts/script.ts";

export function createScripts(time: string): Scripts;

export class Engine {
  constructor(connection: Connection, scripts: Scripts, settings: RedisEngineSettings);
}
