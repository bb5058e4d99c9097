import { convert } from 'html-to-text';
import { boundedHtml } from './bounded-html.ts';
import { decodeText, mediaTypeOf } from './charset.ts';
import { formatTable } from './html-table.ts';
import { rtfToText } from './rtf-to-text.ts';

/** How the text of a note is read, by media type, from the best to the worst source. */
const readers: Readonly<Record<string, (bytes: Uint8Array, contentType: string | undefined) => string>> = {
  'text/plain': decodeText,
  'text/markdown': decodeText,
  'text/html': htmlToText,
  'application/xhtml+xml': htmlToText,
  'text/rtf': rtfToText,
  'application/rtf': rtfToText,
};
const mediaTypes = Object.keys(readers);

/** How good a source the content type is: the lower, the better. `undefined`: it is no text. */
export function rankOfText(contentType: string | undefined): number | undefined {
  const rank = mediaTypes.indexOf(mediaTypeOf(contentType));
  return rank === -1 ? undefined : rank;
}

/** The attachment's plain text. The content type must have a rank. */
export function attachmentText(bytes: Uint8Array, contentType: string | undefined): string {
  return readers[mediaTypeOf(contentType)]?.(bytes, contentType) ?? '';
}

function htmlToText(bytes: Uint8Array, contentType: string | undefined): string {
  const heading = { format: 'heading', options: { uppercase: false } };
  return convert(boundedHtml(decodeText(bytes, contentType)), {
    wordwrap: false,
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, ...heading })),
      { selector: 'table', format: 'tabbedTable' },
    ],
    formatters: { tabbedTable: formatTable },
  });
}
