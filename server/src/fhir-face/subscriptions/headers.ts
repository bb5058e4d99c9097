import { invalid, unprocessable } from '../from-fhir/faults.ts';

type Header = readonly [name: string, value: string];

/** Stands for a value that is not shown. */
const hidden = '********';

/** What the gateway sets itself, or what would change the connection. */
const reserved =
  /^(host|connection|keep-alive|upgrade|te|trailer|expect|transfer-encoding|content-.*|webhook-.*|proxy-.*|user-agent|trace.*)$/i;

/**
 * Reads `Name: value`.
 *
 * @param before the headers that are stored: a client sends back what it was shown of them
 * @throws Problem `request_invalid`. The value is not repeated
 */
export function readHeaders(sent: readonly string[], before: readonly Header[]): Header[] {
  return sent.map((line, index) => {
    const pointer = `/channel/header/${index}`;
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === '') throw invalid(pointer, 'A header is a name, a colon and a value of printable ASCII signs.');
    if (reserved.test(name)) throw unprocessable(pointer, 'The gateway sets this header itself.');
    if (value !== hidden) return [name, value.trim()];
    const stored = before.find(([it]) => it.toLowerCase() === name.toLowerCase());
    if (!stored) throw invalid(pointer, 'The value of this header is hidden, and none is stored.');
    return stored;
  });
}

/** Without their values, which are secrets. */
export function showHeaders(headers: readonly Header[]): string[] {
  return headers.map(([name]) => `${name}: ${hidden}`);
}
