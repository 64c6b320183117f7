/** Helpers that extract the parts of a Markdown page. */

import GithubSlugger from "github-slugger";
import { marked, type Token, type Tokens } from "marked";

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  marked.walkTokens(marked.lexer(text), (token) => void tokens.push(token));
  return tokens;
}

/** Returns the targets of all links and images on a page, in Markdown and in HTML. */
export function linksOf(text: string): string[] {
  return tokensOf(text).flatMap((token) => {
    if (token.type === "link" || token.type === "image") return [(token as Tokens.Link | Tokens.Image).href];
    if (token.type !== "html") return [];
    return [...token.raw.matchAll(/\b(?:href|src|srcset)="([^"]*)"/g)].map(([, target]) => target!);
  });
}

/** Returns the targets of links and images that don't lead to another site. */
export function relativeLinks(text: string): string[] {
  return linksOf(text).filter((href) => !/^[a-z]+:/.test(href));
}

/** Returns the anchors that GitHub generates for the headings of a page. */
export function anchorsOf(text: string): string[] {
  const slugger = new GithubSlugger();
  const headings = tokensOf(text).filter((token): token is Tokens.Heading => token.type === "heading");
  return headings.map(({ text }) => `#${slugger.slug(text.replaceAll("`", ""))}`);
}

/**
 * Returns the files that a page shows: the code blocks marked `ts ignore` whose first line is a comment with the file's
 * name.
 */
export function filesShownIn(text: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const token of tokensOf(text)) {
    if (token.type !== "code" || (token as Tokens.Code).lang !== "ts ignore") continue;
    const name = /^\/\/ ([a-z_.]+\.ts)\n/.exec((token as Tokens.Code).text)?.[1];
    if (name !== undefined) files.set(name, (token as Tokens.Code).text);
  }
  return files;
}
