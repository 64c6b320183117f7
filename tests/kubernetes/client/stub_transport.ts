import type { ApiRequest, ApiResponse, Transport } from "@workqueue/kubernetes";

/** Response of a stub: its status, chunks of its body, and headers. An error is no answer. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  /** Chunks of the body. An error ends the body. */
  readonly chunks?: readonly (string | Error)[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Transport that answers with what the test says, and keeps all requests. */
export class StubTransport implements Transport {
  readonly requests: ApiRequest[] = [];
  /** Number of calls of `reset`. */
  resets = 0;
  /** Answers to the next requests, in order. Later requests are answered by `answer`. */
  readonly next: (Answer | Error)[] = [];
  /** Answer to a request. */
  answer: (request: ApiRequest) => Answer | Error = () => ({ body: {} });

  async send(request: ApiRequest): Promise<ApiResponse> {
    request.onSent?.();
    this.requests.push(request);
    const answer = this.next.shift() ?? this.answer(request);
    await Promise.resolve();
    request.signal.throwIfAborted();
    if (answer instanceof Error) throw answer;
    const { status = 200, body, chunks = [JSON.stringify(body)], headers = {} } = answer;
    return { status, headers, body: bodyOf(chunks) };
  }

  reset(): void {
    this.resets++;
  }
}

/** Yields the chunks of a body. */
export async function* bodyOf(chunks: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const chunk of chunks) {
    await Promise.resolve();
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}
