/**
 * Yields the complete lines of a text that arrives in chunks, without empty lines. Drops the part after the last line
 * break, because a connection that breaks can cut a line anywhere.
 */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let parts: string[] = []; // chunks of a long line, which are joined once
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      parts.push(chunk.slice(start, end));
      const line = parts.join("");
      parts = [];
      start = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
  }
}
