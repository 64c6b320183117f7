import { useEffect, useState } from "preact/hooks";

const PREFIX = "#/queues/";

/** Where the view of a queue is, for a link. */
export function linkTo(queue: string): string {
  return PREFIX + encodeURIComponent(queue);
}

/** The queue that is opened by the address of the page. */
export function useRoute(): string | undefined {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return hash.startsWith(PREFIX) && hash.length > PREFIX.length ? decoded(hash.slice(PREFIX.length)) : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
