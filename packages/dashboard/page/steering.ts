import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ControlResult, ErrorBody } from "../api.ts";

/** Functions called by the controls on the page. */
export interface Steering {
  /** Sends a POST request to the API and shows the result. Resolves with `undefined` if the request failed. */
  post(path: string, body: object): Promise<ControlResult | undefined>;
  /** Asks for confirmation, then sends a POST request. */
  ask(question: Question): void;
}

/** Question that asks the user to confirm an action. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** Label of the button that confirms the action. */
  readonly action: string;
  readonly path: string;
  readonly body: object;
  /** Whether the dialog first asks the server how many items are selected. The number is added to `action`. */
  readonly isCounted?: boolean;
}

export const SteeringContext: ReturnType<typeof createContext<Steering | undefined>> = createContext<
  Steering | undefined
>(undefined);

/** Returns the functions for the page's controls; `undefined` if the user is not allowed to control queues. */
export function useSteering(): Steering | undefined {
  return useContext(SteeringContext);
}

/** Error for a page whose process has ended. */
export class StalePage extends Error {
  constructor() {
    super("This page showed a process that has ended. It now shows the new process: check it before you try again.");
  }
}

/**
 * Sends a POST request to the API of the process with the ID `instance`.
 *
 * @throws {StalePage} If a different process answers.
 * @throws {Error} If the request fails.
 */
export async function postTo(instance: string, path: string, body: object): Promise<ControlResult> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-workqueue-instance": instance },
    body: JSON.stringify(body),
  });
  if (response.status === 409) throw new StalePage();
  const answer = await response.json().catch(() => ({})) as Partial<ControlResult & ErrorBody>;
  if (!response.ok) throw new Error(answer.error ?? `The server responded with status ${response.status}.`);
  return { message: "Done.", ...answer };
}
