import type { FoundAccess } from '../../audit/search.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { badge, table, time, words } from '../parts.ts';

/** Entries of the audit trail. Of a patient, only the beginning of a hash is shown: equal ones are of the same identifier. */
export function entriesTable(entries: readonly FoundAccess[]): Html {
  return table(
    'The newest first',
    ['Time', 'Who', 'Operation', 'EHR and care unit', 'Patient hashes', 'Records', 'Outcome', 'Request'],
    entries.map((entry) => [
      time(entry.at),
      html`${entry.client_id}${entry.actor_kind !== 'client' && html`<br><span class="quiet">${words(entry.actor_kind)}</span>`}`,
      words(entry.operation),
      html`${entry.emr}<br><span class="quiet">${entry.care_unit_id}</span>`,
      some(entry.patient_hashes.map((hash) => hash.toString('hex').slice(0, 8))),
      some(entry.record_ids),
      badge(entry.outcome === 'success' ? 'good' : 'neutral', words(entry.outcome)),
      html`<code>${entry.request_id}</code>${entry.operation_id !== null && entry.operation_id !== entry.request_id && html`<details><summary>Operation</summary><code>${entry.operation_id}</code></details>`}`,
    ]),
  );
}

const mostListed = 3;

function some(texts: readonly string[]): HtmlContent {
  if (texts.length === 0) return 'none';
  const more = texts.length - mostListed;
  return html`${texts.slice(0, mostListed).map((text) => html`<code>${text}</code> `)}${more > 0 && `and ${more} more`}`;
}
