import { useEffect, useState } from "preact/hooks";

const PREFIX = "#/queues/";

/** Returns the link to the view of a queue. */
export function linkTo(queue: string): string {
  return PREFIX + encodeURIComponent(queue);
}

/** Returns the name of the queue in the page's address; `undefined` if the page shows the list of queues. */
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
