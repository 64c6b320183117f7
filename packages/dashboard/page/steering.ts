import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ControlResult, ErrorBody } from "../api.ts";

/** How controls do what they are for. */
export interface Steering {
  /** Posts to the API. What comes of it is announced; `undefined` if it was refused. */
  post(path: string, body: object): Promise<ControlResult | undefined>;
  /** Asks first, then posts. */
  ask(question: Question): void;
}

/** What is asked before something is done to many. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly path: string;
  readonly body: object;
}

export const SteeringContext: ReturnType<typeof createContext<Steering | undefined>> = createContext<
  Steering | undefined
>(undefined);

/** `undefined` for who may only look. */
export function useSteering(): Steering | undefined {
  return useContext(SteeringContext);
}

/** Says that this page shows a process that is no more. */
export class StalePage extends Error {
  constructor() {
    super("This page is of a process that has ended. It now shows the new one: look again before you steer.");
  }
}

/** Posts to the API of the process that `instance` names. */
export async function postTo(instance: string, path: string, body: object): Promise<ControlResult> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-workqueue-instance": instance },
    body: JSON.stringify(body),
  });
  if (response.status === 409) throw new StalePage();
  const answer = await response.json().catch(() => ({})) as Partial<ControlResult & ErrorBody>;
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return { message: "Done.", ...answer };
}
