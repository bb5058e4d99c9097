import { Marked, type Tokens } from 'marked';
import { type Html, trustedHtml } from '../../html/html.ts';

/**
 * A document of the repository as HTML.
 *
 * @param isHere whether a page shows the document at this path, which is relative to this one. Links to other files become text.
 */
export function renderMarkdown(
  text: string,
  isHere: (path: string) => boolean,
): { readonly title: string; readonly content: Html } {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const content = this.parser.parseInline(tokens);
        const [path = ''] = href.split('#');
        const isShown = /^https?:/.test(href) || path === '' || isHere(path);
        return isShown ? `<a href="${href}">${content}</a>` : content;
      },
      // A page loads no pictures.
      image: ({ text: description }) => description,
      code({ text: code }) {
        const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        return `<pre class="commands" tabindex="0"><code>${escaped}</code></pre>\n`;
      },
    },
  });
  let tables = 0;
  const content = (marked.parse(text, { async: false }) as string)
    .replace(
      /<table>/g,
      () => `<div class="wide-table" tabindex="0" role="region" aria-label="Table ${++tables}"><table>`,
    )
    .replaceAll('</table>', '</table></div>')
    // The head of a table without column names.
    .replaceAll('<th></th>', '<td></td>');
  const [, title = 'Document'] = /^# (.+)$/m.exec(text) ?? [];
  return { title, content: trustedHtml(content) };
}

/** The anchor of a heading on GitHub: https://github.com/gjtorikian/html-pipeline, `toc_filter.rb` */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
