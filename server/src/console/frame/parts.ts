import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { qrCode } from '../accounts/qr-code.ts';

/** What a badge says at a glance. Its text says the same, so that no meaning depends on colours. */
export type Tone = 'good' | 'notice' | 'bad' | 'neutral';

export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** A message about what has just happened. Focus and screen readers start here. */
export function notice(tone: 'good' | 'bad', text: string | Html): Html {
  const role = tone === 'bad' ? 'alert' : 'status';
  return html`<div class="notice ${tone}" role="${role}" tabindex="-1" autofocus><p>${text}</p></div>\n`;
}

/** A mistake in a form: the id of the field, and what is wrong with it. */
export type FieldMistake = readonly [field: string, text: string];

/** Says what did not happen, and links to the fields that are the cause. Focus and screen readers start here. */
export function mistakeSummary(text: string, mistakes: readonly FieldMistake[]): Html {
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus><p>${text}</p>
<ul class="mistakes">${mistakes.map(([field, mistake]) => html`<li><a href="#${field}">${mistake}</a></li>\n`)}</ul></div>\n`;
}

/** A date and time in UTC, such as `22 Nov 2026 13:07:22 UTC`. */
export function time(instant: Date | null, none = 'none'): HtmlContent {
  if (!instant) return none;
  const text = `${day.format(instant)} ${instant.toISOString().slice(11, 19)} UTC`;
  return html`<time datetime="${instant.toISOString()}">${text}</time>`;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

const units = [
  [86_400, 'day'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A duration in its two largest units, such as `17 s`, `1 min 17 s` or `2 days 3 h`, with spaces that do not break. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const largest = Math.max(
    0,
    units.findIndex(([size]) => whole >= size),
  );
  if (whole === 0) return '0\u00a0s';
  const parts = units.slice(largest, largest + 2).map(([size, name], index) => {
    const count = Math.floor((index === 0 ? whole : whole % (units[largest]?.[0] ?? 1)) / size);
    return count === 0 ? [] : `${count}\u00a0${name}${name === 'day' && count > 1 ? 's' : ''}`;
  });
  return parts.flat().join('\u00a0');
}

/** A number with its noun, such as `1 message` or `2 messages`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Words of the code, such as `operation_retry`, as people read them. */
export function words(text: string): string {
  return text.replaceAll('_', ' ');
}

/**
 * A table. On a phone, each row becomes a block, and each cell names its column, except for those that say that there is
 * nothing (`–`). The roles keep it a table for screen readers then.
 *
 * @param isCompact on a phone, the cells of a row follow each other as text, for long lists whose cells speak for themselves
 */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly HtmlContent[])[],
  { isCompact = false }: { readonly isCompact?: boolean } = {},
): Html {
  return html`<table role="table"${isCompact && html` class="compact"`}><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    (name) => html`<th scope="col" role="columnheader">${name}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (cells) =>
    html`<tr role="row">${cells.map(
      (cell, index) =>
        html`<td role="cell"${cell === '–' && html` class="nothing"`} data-label="${columns[index]}"><span>${cell}</span></td>`,
    )}</tr>\n`,
)}</tbody></table>`;
}

/** A list of names and values. */
export function facts(rows: readonly (readonly [name: string, value: HtmlContent])[]): Html {
  return html`<dl class="facts">${rows.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`,
  )}</dl>`;
}

/** What an authenticator app scans, or its user enters. */
export function enrolment(uri: string): Html {
  return html`${qrCode(uri, 'QR code of the one-time codes, the same as the URI below')}
<pre tabindex="0" role="region" aria-label="URI of the one-time codes">${uri}</pre>`;
}
