/** Tests of the rules that hold on Redis. */

import type { WorkQueueConfig } from "@workqueue/core";
import { redisQueues } from "@workqueue/redis";
import { testRules } from "../contracts/engine_rules_suite.ts";
import { engineTest } from "./bench.ts";
import { rulesOnRedis } from "./rules.ts";

testRules(
  "Redis",
  rulesOnRedis,
  "redis/differences.md",
  (name, run) =>
    engineTest(name, async (bench, _server, url) =>
      await run(Object.assign(bench, {
        async leftovers() {
          const keys = await bench.server.call("KEYS", `workqueue:{${bench.name}}:*`) as string[];
          return keys.filter((key) => !key.endsWith("}:meta"));
        },
        queueOf: (config: WorkQueueConfig, name: string) => redisQueues(config, { url }).queue(name),
      }))),
);
