import { identifierType, identifierTypesOf } from '@crossward/connector-kit';
import { readAuditKeys } from '../../audit/audit-keys.ts';
import { incompleteText, isIncomplete } from '../../audit/lost-keys.ts';
import { readAuditSearch, searchedDays, type TypedSearch } from '../../audit/read-search.ts';
import { type FoundAccess, searchEntries } from '../../audit/search.ts';
import { type AuditPage, openPage, sealPage } from '../../audit/search-page.ts';
import { listClients } from '../../clients/list-clients.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { startOfDay } from '../../time/date-times.ts';
import { selectField, textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import type { ConsoleResponse, Route, SignedIn } from '../frame/page.ts';
import { badge, counted, type FieldMistake, mistakeSummary, notice, table, time, words } from '../frame/parts.ts';
import { cityOf, timeZoneOf } from '../frame/time-zone.ts';
import { accessLog } from './access-log.ts';
import { record } from './act.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'audit', role: 'admin', page: auditPage },
  { method: 'POST', path: 'audit', role: 'admin', page: searchAudit },
  { method: 'POST', path: 'audit/export', role: 'admin', page: exportAccesses },
];

const perPage = 50;
/** A file that a person can read, and a few megabytes. */
const mostExported = 10_000;

/** What the form contains: a search, with the type of the identifier apart. */
interface Typed extends TypedSearch {
  readonly type: string;
}

/** Those that an entry can have, with their names. */
function typeNames(): [id: string, name: string][] {
  return identifierTypesOf('patient').map((id) => [id, identifierType(id)?.name ?? 'Id in the EHR']);
}

/** The form to search the audit trail. */
async function auditPage(context: SignedIn): Promise<ConsoleResponse> {
  return show(context, { type: 'emr_id' }, '');
}

/**
 * Searches the audit trail. Both the search and the next page are forms, so that no URL contains an identifier. The next
 * page is asked for with the encrypted search.
 */
async function searchAudit(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const { db, keys } = deps.services;
  const typed = readTyped(context);
  const older = request.form.get('older');
  const read = older === null ? readFirst(context, typed) : openPage(keys, session.name, older);
  if (typeof read === 'string') return show(context, typed, failure(read), 400);
  const { search, before } = read;
  // Another text could be an identifier that was typed into the wrong field.
  const target = deps.configured.emrs.find(({ id }) => id === search.emr)?.id;
  await record(db, session, { action: 'audit_search', target, outcome: 'done' });
  const found = await searchEntries(db, (await readAuditKeys(db, keys)).values(), search, {
    limit: perPage + 1,
    before,
  });
  const lacks = await isIncomplete(db, keys, search);
  const shown = found.slice(0, perPage);
  const last = shown.at(-1);
  const days = older === null && searchedDays(typed, search);
  const next = found.length > perPage && last && sealPage(keys, session.name, { search, before: last });
  return show(
    context,
    typed,
    html`<h2>Accesses</h2>
${lacks && notice('bad', incompleteText)}
${
  search.patients !== undefined &&
  older === null &&
  html`<p>Accesses to one patient of <strong>${search.emr}</strong> by the identifiers that you entered.</p>
${exportForm(context, sealPage(keys, session.name, { search }))}`
}
${days && html`<p class="quiet">${days}</p>`}
${shown.length === 0 ? html`<p class="empty">No entries.</p>` : entriesTable(shown)}
${next && olderForm(context, next)}`,
  );
}

/** Days are those of the console's time zone, and the last one is searched too. */
function readFirst({ deps }: SignedIn, { type, ...typed }: Typed): AuditPage | string {
  const timeZone = timeZoneOf(deps);
  const from = startOfDay(typed.from ?? '', timeZone)?.toISOString() ?? typed.from;
  const to = startOfDay(typed.to ?? '', timeZone, 1)?.toISOString() ?? typed.to;
  const patient = typed.patient?.trim().replace(/[^\s,]+/g, (text) => (text.includes(':') ? text : `${type}:${text}`));
  const search = readAuditSearch({ ...typed, patient, from, to });
  return typeof search === 'string' ? search : { search };
}

function readTyped({ request }: SignedIn): Typed {
  const text = (name: string) => request.form.get(name) ?? '';
  return {
    emr: text('emr'),
    type: identifierTypesOf('patient').find((it) => it === text('type')) ?? 'emr_id',
    patient: text('patient'),
    client: text('client'),
    requestId: text('request_id'),
    from: text('from'),
    to: text('to'),
  };
}

/** A summary that links to the field with the mistake. */
function failure(mistake: string): Html {
  const places: readonly (readonly [words: RegExp, field: string])[] = [
    [/needs an EHR/, 'emr'],
    [/time|start of the search/i, 'from'],
    [/no longer be shown/, ''],
  ];
  const field = places.find(([words]) => words.test(mistake))?.[1] ?? 'patient';
  const mistakes: readonly FieldMistake[] = [[field, mistake]];
  return field === '' ? notice('bad', mistake) : mistakeSummary('Nothing was searched.', mistakes);
}

/** The accesses to a patient as a file for the patient. */
async function exportAccesses(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const { db, keys, ehrs } = deps.services;
  const read = openPage(keys, session.name, request.form.get('search') ?? '');
  if (typeof read === 'string' || read.search.patients === undefined) {
    return show(context, { type: 'emr_id' }, notice('bad', 'The search can no longer be exported. Search again.'), 400);
  }
  const { search } = read;
  const ehr = deps.configured.emrs.find(({ id }) => id === search.emr);
  await record(db, session, { action: 'audit_export', target: ehr?.id, outcome: 'done' });
  if (await isIncomplete(db, keys, search)) {
    return show(context, { type: 'emr_id' }, notice('bad', `Nothing was exported. ${incompleteText}`), 503);
  }
  const auditKeys = (await readAuditKeys(db, keys)).values();
  const found = await searchEntries(db, auditKeys, search, { limit: mostExported + 1 });
  const clients = await listClients(db, deps.configured);
  const careUnits = ehrs.get(search.emr ?? '')?.careUnits;
  const file = accessLog({
    ehr: ehr?.name ?? search.emr ?? '',
    accesses: found.slice(0, mostExported),
    isCut: found.length > mostExported,
    from: search.from,
    to: search.to,
    timeZone: timeZoneOf(deps),
    madeAt: deps.now(),
    nameOfClient: (id) => clients.find((client) => client.id === id)?.name ?? id,
    nameOfCareUnit: (id) => careUnits?.get(id)?.name ?? id,
  });
  return { status: 200, html: file, headers: { 'content-disposition': 'attachment; filename="access-log.html"' } };
}

function exportForm(context: SignedIn, sealed: string): Html {
  return postForm(
    context,
    'audit/export',
    html`<input type="hidden" name="search" value="${sealed}"><p>A patient who asks who had access (GDPR, article 15) can get the list as a file in plain words, without hashes. Leave
the client and the request id empty for it, and search by every identifier of the patient.</p>
<p class="actions"><button class="secondary">Export for the patient</button></p>`,
  );
}

async function show(context: SignedIn, typed: Typed, result: Html | '', status = 200): Promise<ConsoleResponse> {
  return consolePage(context, {
    title: status === 200 ? 'Audit' : 'Error: Audit',
    section: 'audit',
    status,
    content: html`${status !== 200 && result}<h1>Audit</h1>
<p>Who had access to the records of patients through the gateway. Each search is listed under Activity, without the
patient. Identifiers are not stored, only keyed hashes: <strong>a search finds accesses by exactly the identifiers that
you enter.</strong> To find all accesses to a person, enter the EHR's own id and each national number, such as
<code>emr_id:1234</code>. A look-up of the patient by a national number returns the EHR's own id.</p>
${await searchForm(context, typed)}
${status === 200 && result}`,
  });
}

async function searchForm(context: SignedIn, typed: Typed): Promise<Html> {
  const { configured, services } = context.deps;
  const zone = `Day in the time of ${cityOf(timeZoneOf(context.deps))}.`;
  const clients = (await listClients(services.db, configured)).map(({ id, name }) => [id, name] as const);
  const optional = { isOptional: true, maxLength: 200 } as const;
  const text = (name: string, label: string, value: string | undefined, hint: string) =>
    html`<div class="field">${textField({ ...optional, name, label, hint, value })}</div>\n`;
  const day = (name: string, label: string, value: string | undefined, hint: string) =>
    html`<div class="field">${textField({ ...optional, name, label, hint, value, type: 'date' })}</div>\n`;
  const select = (name: string, label: string, value: string | undefined, choices: readonly Choice[]) =>
    html`<div class="field">${selectField({ name, label, value, isOptional: true }, choices.map(choice))}</div>\n`;
  return postForm(
    context,
    'audit',
    html`<div class="columns">
${select('emr', 'EHR', typed.emr, [['', 'All EHRs'], ...configured.emrs.map(({ id, name }) => [id, name] as const)])}
${select('type', 'Identifier of the patient', typed.type, typeNames())}
${text('patient', 'Patient', '', 'Several identifiers of one patient with spaces.')}
${select('client', 'Client', typed.client?.trim(), [['', 'All clients'], ['background', 'the gateway itself'], ...new Map(clients)])}
${text('request_id', 'Request id', typed.requestId, 'As in the response and the log.')}
${day('from', 'From', typed.from, zone)}
${day('to', 'To', typed.to, `${zone} It is included.`)}
</div>
<p class="actions"><button>Search</button></p>`,
  );
}

type Choice = readonly [id: string, name: string];

function choice([value, name]: Choice) {
  return { value, text: value === '' || value === name ? name : `${name} (${value})` };
}

function olderForm(context: SignedIn, sealed: string): Html {
  return postForm(
    context,
    'audit',
    html`<input type="hidden" name="older" value="${sealed}"><button class="secondary">Older</button>`,
  );
}

/** Entries of the audit trail. Of a patient, only the beginning of a hash is shown: equal ones are of the same identifier. */
function entriesTable(entries: readonly FoundAccess[]): Html {
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
