import { readAuditKeys } from '../../audit/key-store.ts';
import { readSearch, searchedDays, type TypedSearch } from '../../audit/read-search.ts';
import { searchEntries } from '../../audit/search.ts';
import { type AuditPage, openPage, sealPage } from '../../audit/search-page.ts';
import { type Html, html } from '../../html/html.ts';
import { record } from '../act.ts';
import { page, postForm } from '../frame.ts';
import type { ConsoleResponse, SignedIn } from '../page.ts';
import { notice } from '../parts.ts';
import type { Route } from '../route.ts';
import { entriesTable } from './audit-entries.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'audit', role: 'admin', page: auditPage },
  { method: 'POST', path: 'audit', role: 'admin', page: searchAudit },
];

const perPage = 50;

/** The form to search the audit trail. */
async function auditPage(context: SignedIn): Promise<ConsoleResponse> {
  return show(context, {}, '');
}

/**
 * Searches the audit trail. Both the search and the next page are forms, so that no URL contains an identifier. The next
 * page is asked for with the encrypted search.
 */
async function searchAudit(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const { db, keys } = deps.services;
  const typed = readTyped(request.form);
  const older = request.form.get('older');
  const read = older === null ? readFirst(typed) : openPage(keys, session.name, older);
  if (typeof read === 'string') return show(context, typed, notice('bad', read), 400);
  const { search, before } = read;
  // Another text could be an identifier that was typed into the wrong field.
  const target = deps.configured.emrs.find(({ id }) => id === search.emr)?.id;
  await record(db, session, { action: 'audit_search', target, outcome: 'done' });
  const found = await searchEntries(db, (await readAuditKeys(db, keys)).values(), search, {
    limit: perPage + 1,
    before,
  });
  const shown = found.slice(0, perPage);
  const last = shown.at(-1);
  const days = older === null && searchedDays(typed, search);
  const next = found.length > perPage && last && sealPage(keys, session.name, { search, before: last });
  return show(
    context,
    typed,
    html`<h2>Accesses</h2>
${search.patient !== undefined && html`<p>Accesses to one patient of <strong>${search.emr}</strong> by the identifier that you entered.</p>`}
${days && html`<p class="quiet">${days}</p>`}
${shown.length === 0 ? html`<p class="empty">No entries.</p>` : entriesTable(shown)}
${next && olderForm(context, next)}`,
  );
}

function readFirst(typed: TypedSearch): AuditPage | string {
  const search = readSearch(typed);
  return typeof search === 'string' ? search : { search };
}

function readTyped(form: URLSearchParams): TypedSearch {
  const text = (name: string) => form.get(name) ?? '';
  return {
    emr: text('emr'),
    patient: text('patient'),
    client: text('client'),
    requestId: text('request_id'),
    from: text('from'),
    to: text('to'),
  };
}

function show(context: SignedIn, typed: TypedSearch, result: Html | '', status = 200): ConsoleResponse {
  return page(context, {
    title: status === 200 ? 'Audit' : 'Error: Audit',
    section: 'audit',
    status,
    content: html`${status !== 200 && result}<h1>Audit</h1>
<p>Who had access to the records of patients through the gateway. Each search is listed under Activity, without the
patient. Identifiers are not stored, only keyed hashes: <strong>a search finds accesses by exactly the identifier that you
enter.</strong> To find all accesses to a person, search by the EHR's own id, such as <code>emr_id:1234</code>. A
look-up of the patient by a national number returns it.</p>
${searchForm(context, typed)}
${status === 200 && result}`,
  });
}

function searchForm(context: SignedIn, typed: TypedSearch): Html {
  const emrs = context.deps.configured.emrs.map(({ id }) => html`<option value="${id}">`);
  const field = (name: string, label: string, value: string | undefined, hint: string, list = '') =>
    html`<div class="field"><label for="${name}">${label}</label>
<p class="hint" id="${name}-hint">${hint}</p>
<input id="${name}" name="${name}" value="${value ?? ''}" maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="${name}-hint"${list !== '' && html` list="${list}"`}></div>\n`;
  return postForm(
    context,
    'audit',
    html`<div class="filters">
${field('emr', 'EHR', typed.emr, 'Id of the EHR.', 'emrs')}
<datalist id="emrs">${emrs}</datalist>
${field('patient', 'Patient', '', 'With its type, such as emr_id:1234. Needs an EHR.')}
${field('client', 'Client', typed.client, 'Id of the client.')}
${field('request_id', 'Request id', typed.requestId, 'As in the response and the log.')}
${field('from', 'From', typed.from, 'UTC, such as 2030-03-15 or 2030-03-15T09:00.')}
${field('to', 'To', typed.to, 'UTC, exclusive.')}
</div>
<p class="actions"><button>Search</button></p>`,
  );
}

function olderForm(context: SignedIn, sealed: string): Html {
  return postForm(
    context,
    'audit',
    html`<input type="hidden" name="older" value="${sealed}"><button class="secondary">Older</button>`,
  );
}
