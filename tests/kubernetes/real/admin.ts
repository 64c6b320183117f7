/** Requests of the tests themselves, as the cluster's administrator. They don't use the package that is tested. */

/** Object of the API server, as the tests read it. */
export interface Stored {
  apiVersion?: string;
  kind?: string;
  // deno-lint-ignore no-explicit-any -- tests read fields of many kinds
  [field: string]: any;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { uid: string; name: string; kind: string }[];
  };
}

/** Error of a request. */
export class RequestError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** Sends requests to one API server. */
export class Admin implements Disposable {
  readonly #client: Deno.HttpClient;
  /** Number of requests for single objects and lists so far. */
  reads = 0;
  /** Number of requests that change objects so far. */
  writes = 0;

  constructor(readonly url: string, ca: string, readonly token: string) {
    this.#client = Deno.createHttpClient({ caCerts: [ca] });
  }

  /** Sends a request and returns the parsed response. */
  async request<R = Stored>(method: string, path: string, body?: unknown, type?: string): Promise<R> {
    if (method === "GET") this.reads++;
    else this.writes++;
    const response = await this.#send(method, path, body, type);
    const text = await response.text();
    if (!response.ok) throw new RequestError(response.status, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as R;
  }

  /** Returns the text of a response. */
  async text(path: string): Promise<string> {
    return await (await this.#send("GET", path)).text();
  }

  /** Reports whether the server is ready. */
  async isReady(): Promise<boolean> {
    const response = await this.#send("GET", "/readyz");
    await response.body?.cancel();
    return response.ok;
  }

  /** Creates an object, and returns it as stored. */
  async create(path: string, object: unknown): Promise<Stored> {
    return await this.request("POST", path, object);
  }

  /** Sends a merge patch. */
  async patch(path: string, changes: unknown): Promise<Stored> {
    return await this.request("PATCH", path, changes, "application/merge-patch+json");
  }

  /** Creates or changes an object by server-side apply. */
  async apply(path: string, object: unknown): Promise<Stored> {
    return await this.request("PATCH", `${path}?fieldManager=tests&force=true`, object, "application/apply-patch+yaml");
  }

  /** Deletes an object, if it exists. */
  async delete(path: string): Promise<void> {
    await this.request("DELETE", path).catch((error) => {
      if (error.status !== 404) throw error;
    });
  }

  /** Returns all objects of a list. */
  async list(path: string): Promise<Stored[]> {
    return (await this.request<{ items: Stored[] }>("GET", path)).items;
  }

  /** Calls `onEvent` for each event of a watch that begins with the current objects. Ends when the signal aborts. */
  async watch(path: string, onEvent: (type: string, object: Stored) => void, signal: AbortSignal): Promise<void> {
    const separator = path.includes("?") ? "&" : "?";
    const response = await this.#send("GET", `${path}${separator}watch=true`, undefined, undefined, signal);
    let rest = "";
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: Stored };
        onEvent(type, object);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async #send(method: string, path: string, body?: unknown, type = "application/json", signal?: AbortSignal) {
    return await fetch(this.url + path, {
      method,
      client: this.#client,
      headers: { authorization: `Bearer ${this.token}`, "content-type": type },
      ...body !== undefined && { body: JSON.stringify(body) },
      ...signal && { signal },
    });
  }
}

/** Returns the path of a namespace's config maps, or of one of them. */
export function configMaps(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps${name === undefined ? "" : `/${name}`}`;
}

/** Returns the path of a namespace's secrets, or of one of them. */
export function secrets(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/secrets${name === undefined ? "" : `/${name}`}`;
}
