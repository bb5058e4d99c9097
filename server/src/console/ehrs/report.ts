import { sql } from 'kysely';
import type { ConfiguredEmr } from '../../config/configuration.ts';
import type { Db } from '../../db/kysely.ts';
import type { Ability } from '../../ehr/abilities.ts';
import type { EmrCheck } from '../../ehr/check-connection.ts';
import { readRun } from '../../ehr/conformance-runs.ts';
import { reportOf } from '../../ehr/emr-report.ts';
import { type Html, html } from '../../html/html.ts';
import type { RecordedActivity } from '../audit/activity.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { facts, notice, table, time } from '../frame/parts.ts';
import { conformanceLink, conformanceResult } from './conformance-parts.ts';
import { checkNow, findingsTable } from './connections.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'connections/:emr/report', role: 'operate', page: reportPage },
];

/** Checks an EHR, and shows a page to print: what works, what does not, findings, settings without secrets. */
function reportPage(context: SignedIn): Promise<ConsoleResponse> {
  return checkNow(context, (check, emr) => reportOn(context, check, emr));
}

/** The page to print, about a check that was made now. */
export async function reportOn(context: SignedIn, check: EmrCheck, emr: ConfiguredEmr): Promise<ConsoleResponse> {
  const { db } = context.deps.services;
  const [tries, run] = [await lastTries(db, emr.id), await readRun(db, emr.id)];
  const report = reportOf(emr, check, context.deps.now());
  const { name, isWell, error, can, cannot, limits, careUnits, settings } = report;
  return consolePage(context, {
    title: `Report on ${name}`,
    section: 'connections',
    content: html`${isWell ? notice('good', 'The connection works.') : notice('bad', `${name} has a problem.`)}
<p class="screen"><a href="${linkTo(context, `connections/${emr.id}`)}">${name}</a> · Print this page to hand it over.${conformanceLink(context, emr)}</p>
<h1>${name}: report on its connection</h1>
${facts(report.facts)}
${error !== undefined && html`<p class="advice bad">The connection cannot be opened: ${error}</p>`}
${can.length > 0 && html`<h2>What works</h2>${abilities('What callers can do through the gateway', 'How', can)}`}
${cannot.length > 0 && html`<h2>What does not work</h2>${abilities('What callers cannot do', 'Instead', cannot)}`}
${limits.length > 0 && html`<h2>Limits</h2><ul>${limits.map((limit) => html`<li>${limit}</li>\n`)}</ul>`}
<h2>Findings of the check</h2>
${findingsTable(check)}
${tries.length > 0 && html`<h2>What was tried</h2>${facts(tries.map(triedFact))}`}
${run && html`<h2>Conformance kit</h2>${conformanceResult(run)}`}
<h2>Care units</h2>
${facts(careUnits)}
<h2>Settings</h2>
<pre tabindex="0" role="region" aria-label="Settings, without secrets">${settings.trimEnd()}</pre>`,
  });
}

/** The last try of each kind at an EHR. */
async function lastTries(db: Db, emr: string): Promise<RecordedActivity[]> {
  const { rows } = await sql<RecordedActivity>`
    SELECT DISTINCT ON (action) id::text, at, operator_name AS operator, action, target, outcome FROM operator_activity
    WHERE target = ${emr} AND action IN ('emr_try_search', 'emr_try_booking')
    ORDER BY action DESC, operator_activity.id DESC`.execute(db);
  return rows;
}

function triedFact({ action, outcome, at }: RecordedActivity): readonly [string, Html] {
  const name = action === 'emr_try_booking' ? 'Booking and cancellation' : 'Search';
  const told = { done: 'worked', begun: 'has begun and not ended' }[String(outcome)] ?? 'did not work';
  return [name, html`${told}, ${time(at)}`];
}

function abilities(caption: string, column: string, rows: readonly Ability[]): Html {
  return table(
    caption,
    ['Work', column],
    rows.map(({ what, how }) => [what, how === '' ? '–' : how]),
  );
}
