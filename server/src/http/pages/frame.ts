import { type HtmlContent, html } from '../../html/html.ts';
import type { PageLink } from './links.ts';
import { stylePath } from './style.ts';

interface Content {
  /** Of the browser's tab, in front of `Crossward`. */
  readonly title: string;
  /** The entry of the navigation that the page is in. */
  readonly section?: string;
  /** The pages that the request can reach. */
  readonly links: readonly PageLink[];
  readonly content: HtmlContent;
}

/** A whole page for developers and operators, in English, in the look of the console. */
export function pageFrame({ title, section, links, content }: Content): string {
  const pages = [{ title: 'Start', path: '/' }, ...links.filter(({ path }) => !path.startsWith('/api/'))];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Crossward</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="bar">
<a class="brand" href="/">Crossward</a>
<nav aria-label="Crossward"><ul>
${pages.map((page) => html`<li><a href="${page.path}" data-name="${page.title}"${page.path === section && html` aria-current="page"`}>${page.title}</a></li>\n`)}</ul></nav>
</div></header>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`.text;
}
