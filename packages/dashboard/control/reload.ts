import { ConfigError, type WorkQueueConfig } from "@workqueue/core";
import type { ControlResult } from "../api.ts";
import type { DashboardOptions } from "../contract.ts";
import { Refusal } from "../http/answers.ts";
import { thrownText } from "../watch/texts.ts";
import { readBody } from "./bodies.ts";

/**
 * Reads the config again and returns the changes that a reload makes. Applies the changes if the body requests this and
 * contains the ID of the config that was shown. The ID is required because the file may have been saved again since the
 * changes were shown.
 *
 * @throws {Refusal} If the config or the body is invalid, or the config has changed since it was shown.
 */
export async function reload(
  config: WorkQueueConfig,
  readConfig: NonNullable<DashboardOptions["readConfig"]>,
  text: string,
): Promise<ControlResult> {
  const { apply = false, shown } = readBody("reload config", text, [], ["apply", "shown"]);
  try {
    const source = await readConfig();
    const name = await nameOf(source);
    if (apply && shown === undefined) {
      throw new Refusal(422, "Cannot reload config: the body must have 'shown', from a request without 'apply'");
    }
    if (apply && shown !== name) {
      throw new Refusal(422, "Nothing was done: the config has changed since it was shown");
    }
    const changes = config.reload(source, { dryRun: !apply });
    const many = changes.length === 1 ? "1 change" : `${changes.length} changes`;
    if (changes.length === 0) return { message: NOTHING, changes, shown: name };
    return { message: apply ? `The config was reloaded: ${many}.` : `${many} to apply.`, changes, shown: name };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(422, error instanceof ConfigError ? error.message : thrownText(error));
  }
}

const NOTHING = "The config has not changed since it was last loaded. Values set by hand stay.";

/** Returns an ID of a document, computed from its content. */
async function nameOf(source: string | object): Promise<string> {
  const text = typeof source === "string" ? source : JSON.stringify(source);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
