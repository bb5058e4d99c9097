import { operationInWords, outcomeInWords } from '../../audit/access-words.ts';
import type { FoundAccess } from '../../audit/search.ts';
import { type Html, html } from '../../html/html.ts';
import { table } from '../frame/parts.ts';
import { cityOf } from '../frame/time-zone.ts';

/** What the file says about accesses. */
export interface AccessLog {
  /** The name of the EHR. */
  readonly ehr: string;
  /** The newest first. */
  readonly accesses: readonly FoundAccess[];
  /** Whether there are more, which are not in the file. */
  readonly isCut: boolean;
  /** Exclusive. Absent: no limit. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly timeZone: string;
  readonly madeAt: Date;
  /** The names of clients and care units, by id. */
  nameOfClient(id: string): string;
  nameOfCareUnit(id: string): string;
}

const style = `body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}caption{text-align:left}th,td{text-align:left;vertical-align:top;padding:.375rem .75rem .375rem 0;border-bottom:1px solid #999}
@media (max-width:40rem){thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}thead th{display:block;width:1px;overflow:hidden}table,caption,tbody,tr,td{display:block}tr{padding:.75rem 0;border-bottom:1px solid #999}
td{padding:0;border:0;overflow-wrap:anywhere}td::before{content:attr(data-label);margin-right:.5rem;font-weight:700}}
tr{break-inside:avoid}`;

/**
 * The accesses to a patient's record as a file for the patient (article 15 of the GDPR): a page that needs nothing else, can be
 * printed, and contains no identifier of the patient.
 */
export function accessLog({ ehr, accesses, isCut, from, to, timeZone, madeAt, ...names }: AccessLog): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone });
  const period = [from && `from ${format.format(from)}`, to && `until ${format.format(to)}`]
    .filter((it) => it)
    .join(' ');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who had access to your record</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Who had access to your record</h1>
<p>This list shows who looked at or changed your record in ${ehr} through our gateway, which connects booking and other
systems with the health record${period !== '' && `, ${period}`}. The newest access is first. Times are those of
${cityOf(timeZone)}. The list was made on ${format.format(madeAt)}.</p>
<p>It does not show what staff did in ${ehr} itself. A system can have several users: ask whoever runs it which of them it
was, with the reference of the access.</p>
${isCut && html`<p><strong>There are earlier accesses that this list leaves out.</strong> Ask for a list of an earlier time.</p>`}
${accesses.length === 0 ? html`<p>Nobody had access to your record through the gateway in this time.</p>` : accessTable(accesses, format, names)}
</main>
</body>
</html>
`.text;
}

function accessTable(
  accesses: readonly FoundAccess[],
  format: Intl.DateTimeFormat,
  { nameOfClient, nameOfCareUnit }: Pick<AccessLog, 'nameOfClient' | 'nameOfCareUnit'>,
): Html {
  return table(
    'The newest first',
    ['When', 'Who', 'What', 'Where', 'Result', 'Reference'],
    accesses.map((access) => [
      format.format(access.at),
      who(access, nameOfClient),
      operationInWords(access),
      nameOfCareUnit(access.care_unit_id),
      outcomeInWords(access),
      access.request_id,
    ]),
  );
}

function who({ actor_kind, client_id }: FoundAccess, nameOfClient: (id: string) => string): string {
  if (actor_kind === 'patient_page') return 'You, or somebody who has the link to your page';
  if (actor_kind === 'background' && client_id === 'background') return 'The gateway itself';
  return actor_kind === 'background' ? `The gateway, for ${nameOfClient(client_id)}` : nameOfClient(client_id);
}
