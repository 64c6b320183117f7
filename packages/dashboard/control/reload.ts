import { ConfigError, type WorkQueueConfig } from "@workqueue/core";
import type { ControlResult } from "../api.ts";
import type { DashboardOptions } from "../contract.ts";
import { Refusal } from "../http/answers.ts";
import { thrownText } from "../watch/texts.ts";
import { readBody } from "./bodies.ts";

/** Reads the config anew and tells what changes; and reloads it, if the body says so. */
export async function reload(
  config: WorkQueueConfig,
  readConfig: NonNullable<DashboardOptions["readConfig"]>,
  text: string,
): Promise<ControlResult> {
  const { apply = false } = readBody("reload config", text, ["apply"]);
  try {
    const changes = config.reload(await readConfig(), { dryRun: !apply });
    const many = changes.length === 1 ? "1 change" : `${changes.length} changes`;
    if (changes.length === 0) return { message: "The config says what is in force already.", changes };
    return { message: apply ? `The config is reloaded: ${many}.` : `${many} to come.`, changes };
  } catch (error) {
    throw new Refusal(422, error instanceof ConfigError ? error.message : thrownText(error));
  }
}
