/** What is in a page in Markdown. */

import { marked, type Token, type Tokens } from "marked";

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  marked.walkTokens(marked.lexer(text), (token) => void tokens.push(token));
  return tokens;
}

/** Where links and images of a page lead, but for those to other sites. */
export function relativeLinks(text: string): string[] {
  return tokensOf(text)
    .filter((token): token is Tokens.Link | Tokens.Image => token.type === "link" || token.type === "image")
    .map(({ href }) => href)
    .filter((href) => !/^[a-z]+:/.test(href));
}
