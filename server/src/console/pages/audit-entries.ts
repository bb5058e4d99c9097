import type { FoundAccess } from '../../audit/search.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { badge, counted, table, time, words } from '../parts.ts';

/** Entries of the audit trail. Of a patient, only the beginning of a hash is shown: equal ones are of the same identifier. */
export function entriesTable(entries: readonly FoundAccess[]): Html {
  return table(
    'The newest first',
    ['Time', 'Who', 'Operation', 'EHR and care unit', 'Patient hashes', 'Outcome', 'Ids'],
    entries.map((entry) => [
      time(entry.at),
      html`${entry.client_id}${entry.actor_kind !== 'client' && html` <br><span class="quiet">${words(entry.actor_kind)}</span>`}`,
      words(entry.operation),
      html`${entry.emr} <br><span class="quiet">${entry.care_unit_id}</span>`,
      some(entry.patient_hashes.map((hash) => hash.toString('hex').slice(0, 8))),
      badge(entry.outcome === 'success' ? 'good' : 'neutral', words(entry.outcome)),
      idsOf(entry),
    ]),
    { isCompact: true },
  );
}

/** Folded, because each id has 36 characters. */
function idsOf({ record_ids: records, request_id: request, operation_id: operation }: FoundAccess): Html {
  return html`<details><summary>${records.length === 0 ? 'Request' : `${counted(records.length, 'record')}, request`}</summary>
${records.length > 0 && html`<p>Records ${some(records)}</p>`}
<p>Request <code>${request}</code></p>
${operation !== null && operation !== request && html`<p>Operation <code>${operation}</code></p>`}</details>`;
}

const mostListed = 3;

function some(texts: readonly string[]): HtmlContent {
  if (texts.length === 0) return 'none';
  const more = texts.length - mostListed;
  return html`${texts.slice(0, mostListed).map((text) => html`<code>${text}</code> `)}${more > 0 && `and ${more} more`}`;
}
