import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { documents, otherDocuments, pageOf, PAGES, partsOf, read, siteLink, targetOf } from "../repository.ts";

/** Pages of the site are the documents of the repository, where they are, and the generated ones. */
const rewrites: Record<string, string> = {
  ...Object.fromEntries(documents.map((path) => [path, pageOf(path)!])),
  [`${PAGES}/:page+`]: ":page+",
};

const { repository } = JSON.parse(readFileSync(new URL("../../../release/project.json", import.meta.url), "utf8"));

const fromHere = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));

export default defineConfig({
  title: "Workqueue",
  description: "The work queue of Kubernetes controllers, for TypeScript",
  srcDir: fileURLToPath(new URL("../../..", import.meta.url)),
  outDir: process.env.SITE_OUT,
  base: process.env.SITE_BASE ?? "/",
  srcExclude: ["**/node_modules/**", ...otherDocuments()],
  rewrites,
  router: { prefetchLinks: false }, // a reader loads only the pages that they open
  // The pages are outside of this folder, in whose node_modules Vue is.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: fromHere("vue/dist/vue.runtime.esm-bundler.js") },
        { find: /^vue\/server-renderer$/, replacement: fromHere("vue/server-renderer/index.mjs") },
      ],
    },
    ssr: { noExternal: ["vue"] },
  },
  markdown: {
    anchor: { slugify: anchorOf },
    image: { lazyLoading: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(md) {
      const open = md.renderer.rules.link_open!;
      md.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const token = tokens[index]!;
        const document = documents.find((path) => pageOf(path) === env.relativePath);
        const href = token.attrGet("href");
        if (document !== undefined && href !== null) token.attrSet("href", siteLink(document, href));
        return open(tokens, index, options, env, self);
      };
      for (const rule of ["html_block", "html_inline"]) {
        const html = md.renderer.rules[rule]!;
        md.renderer.rules[rule] = (...args) =>
          // Vite finds only pictures whose paths begin with a dot
          html(...args).replace(/(src|srcset)="(?=\w+\/)/g, '$1="./').replace(/<img /g, '<img loading="lazy" ');
      }
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guide", link: "/docs/", activeMatch: "^/docs/" },
      { text: "Reference", link: "/reference/", activeMatch: "^/reference/" },
      { text: "Delays", link: "/docs/site/explorer" },
      { text: "Playground", link: "/playground/index.html", target: "_self" },
    ],
    sidebar: { "/reference/": referenceSidebar(), "/": guideSidebar() },
    ...(repository === null ? {} : { socialLinks: [{ icon: "github", link: repository }] }),
  },
});

/** Returns the anchor of a heading, as hosts of repositories make it, because the pages link to these. */
function anchorOf(heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
}

/** Returns the sections of `docs/README.md`, which lists pages by what a user wants to do, with the parts of pages. */
function guideSidebar(): DefaultTheme.SidebarItem[] {
  const sections: { text: string; items: DefaultTheme.SidebarItem[] }[] = [];
  for (const line of read("docs/README.md").split("\n")) {
    const [, section] = /^\*\*(.+)\*\*$/.exec(line) ?? [];
    if (section !== undefined) sections.push({ text: section, items: [] });
    const [, text, href] = /^- \[(.+?)\]\((.+?)\)/.exec(line) ?? [];
    if (text === undefined) continue;
    const link = `/${siteLink("docs/README.md", href!).replace(/^\.\.\//, "").replace(/^\.\//, "docs/")}`;
    const items = partsOf(targetOf("docs/README.md", href!)!).map((part) => ({
      text: titleOf(part),
      link: `/${part}`,
    }));
    sections.at(-1)!.items.push({
      text: text[0]!.toUpperCase() + text.slice(1),
      link,
      ...items.length === 0 ? {} : { items, collapsed: true },
    });
  }
  return sections;
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(read(page))![1]!;
}

function referenceSidebar(): DefaultTheme.SidebarItem[] {
  const { packages } = JSON.parse(read(`${PAGES}/reference/packages.json`)) as { packages: [string, string][] };
  return [{ text: "Packages", items: packages.map(([text, folder]) => ({ text, link: `/reference/${folder}/` })) }];
}
