import { type Html, type HtmlContent, html } from '../html/html.ts';

/** What a badge says at a glance. Its text says the same, so that no meaning depends on colours. */
export type Tone = 'good' | 'notice' | 'bad' | 'neutral';

export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** A message about what has just happened. Focus and screen readers start here. */
export function notice(tone: 'good' | 'bad', text: string): Html {
  const role = tone === 'bad' ? 'alert' : 'status';
  return html`<div class="notice ${tone}" role="${role}" tabindex="-1" autofocus><p>${text}</p></div>\n`;
}

/** A date and time in UTC, such as `22 Nov 2026 13:07:22 UTC`. */
export function time(instant: Date | null, none = 'none'): HtmlContent {
  if (!instant) return none;
  const text = `${day.format(instant)} ${instant.toISOString().slice(11, 19)} UTC`;
  return html`<time datetime="${instant.toISOString()}">${text}</time>`;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A duration such as `95 s`, `12 min`, `3 h` or `2 days`, with a space that does not break. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)}\u00a0min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)}\u00a0h` : `${Math.round(seconds / 86_400)}\u00a0days`;
}

/** Words of the code, such as `operation_retry`, as people read them. */
export function words(text: string): string {
  return text.replaceAll('_', ' ');
}

/**
 * A table. On a phone, each row becomes a block, and each cell names its column. The roles keep it a table for screen
 * readers then.
 */
export function table(caption: string, columns: readonly string[], rows: readonly (readonly HtmlContent[])[]): Html {
  return html`<table role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    (name) => html`<th scope="col" role="columnheader">${name}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (cells) =>
    html`<tr role="row">${cells.map(
      (cell, index) => html`<td role="cell" data-label="${columns[index]}"><span>${cell}</span></td>`,
    )}</tr>\n`,
)}</tbody></table>`;
}

/** A list of names and values. */
export function facts(rows: readonly (readonly [name: string, value: HtmlContent])[]): Html {
  return html`<dl class="facts">${rows.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`,
  )}</dl>`;
}
