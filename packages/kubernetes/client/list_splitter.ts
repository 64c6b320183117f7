/** Metadata of a list. */
export interface ListMeta {
  /** Version of the server as of which the list is. */
  readonly resourceVersion?: string;
  /** Token for the next page. Missing or empty on the last page. */
  readonly continue?: string;
  /** Number of items on later pages, if the server knows it. */
  readonly remainingItemCount?: number;
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [34, 92, 58, 44];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Splits a list (`{ "items": […], "metadata": {…} }`, in any order) that arrives in chunks. Keeps the text of one item
 * at a time, so that a list of any length takes little memory.
 */
export class ListSplitter {
  /** Metadata of the list as JSON, once it has been read. */
  metadata = "{}";
  /** Whether the list has been read to its end. */
  isComplete = false;
  readonly #onItem: (json: string) => void;
  /** Text since the last key, value or item. */
  #parts: string[] = [];
  /** Latest key of the list object, with its quotes. */
  #key = "";
  /** Number of open objects and arrays. The list object is 1, and its array of items 2. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @param onItem Called with the JSON of each item. */
  constructor(onItem: (json: string) => void) {
    this.#onItem = onItem;
  }

  /** Takes the next chunk. Calls `onItem` for each item that ends in it. */
  write(chunk: string): void {
    let start = 0;
    const take = (end: number) => {
      const text = [...this.#parts, chunk.slice(start, end)].join("");
      this.#parts = [];
      start = end + 1;
      return text;
    };
    for (let i = 0; i < chunk.length; i++) {
      const char = chunk.charCodeAt(i);
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === BACKSLASH) this.#isEscaped = true;
        else if (char === QUOTE) this.#isInString = false;
      } else if (char === QUOTE) this.#isInString = true;
      else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
        this.#depth++;
        if (this.#depth === 1 || this.#isInItems && char === OPEN_ARRAY) take(i);
      } else if (char === COLON) {
        if (this.#depth === 1) this.#key = take(i).trim();
      } else if (char === COMMA || char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
        if (this.#depth === 1 || this.#isInItems) this.#value(take(i));
        if (char !== COMMA) this.#depth--;
        if (this.#depth === 0) this.isComplete = true;
      }
    }
    if (start < chunk.length) this.#parts.push(chunk.slice(start));
  }

  get #isInItems(): boolean {
    return this.#depth === 2 && this.#key === '"items"';
  }

  #value(text: string): void {
    if (text.trim() === "") return; // between the brackets of an empty list, or after the array of items
    if (this.#depth === 2) this.#onItem(text);
    else if (this.#key === '"metadata"') this.metadata = text;
  }
}
