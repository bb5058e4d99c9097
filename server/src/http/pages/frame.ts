import { type HtmlContent, html } from '../../html/html.ts';

/** The style sheet of the pages for developers. It contains no character that HTML escapes. */
export const style = `
:root { color-scheme: light dark; --page: #fff; --text: #1c2733; --quiet: #51606c; --soft: #eef2f5; --line: #d5dde3; --link: #0b5c91; }
@media (prefers-color-scheme: dark) {
  :root { --page: #10161b; --text: #eef2f5; --quiet: #b3c0ca; --soft: #1f2830; --line: #36424d; --link: #8cc8f0; }
}
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
h1 { line-height: 1.25; }
h2 { font-size: 1.125rem; margin: 2rem 0 0.5rem; }
p { margin: 0.5rem 0; }
a { color: var(--link); }
code, pre { background: var(--soft); border-radius: 3px; }
code { padding: 0.1em 0.3em; }
pre { padding: 0.75rem 1rem; white-space: pre-wrap; font-size: 0.875rem; }
pre code { padding: 0; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: 0; }
ul { padding-left: 1.25rem; }
article { border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; margin: 1rem 0; }
article h2 { font-size: 1rem; margin: 0; }
.message { white-space: pre-line; }
small, .quiet { color: var(--quiet); }
`;

/**
 * A whole page for developers and operators, in English.
 *
 * @param title of the browser's tab, in front of `Crossward`
 */
export function pageFrame(title: string, content: HtmlContent): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Crossward</title>
<style>${style}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.text;
}
