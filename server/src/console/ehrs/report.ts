import type { ConfiguredEmr } from '../../config/configuration.ts';
import type { Ability } from '../../ehr/abilities.ts';
import type { EmrCheck } from '../../ehr/check-connection.ts';
import { reportOf } from '../../ehr/emr-report.ts';
import { type Html, html } from '../../html/html.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { facts, notice, table } from '../frame/parts.ts';
import { checkNow, findingsTable } from './connections.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'connections/:emr/report', role: 'operate', page: reportPage },
];

/** Checks an EHR, and shows a page to print: what works, what does not, findings, settings without secrets. */
function reportPage(context: SignedIn): Promise<ConsoleResponse> {
  return checkNow(context, (check, emr) => reportOn(context, check, emr));
}

/** The page to print, about a check that was made now. */
export function reportOn(context: SignedIn, check: EmrCheck, emr: ConfiguredEmr): ConsoleResponse {
  const report = reportOf(emr, check, context.deps.now());
  const { name, isWell, error, can, cannot, limits, careUnits, settings } = report;
  return consolePage(context, {
    title: `Report on ${name}`,
    section: 'connections',
    content: html`${isWell ? notice('good', 'The connection works.') : notice('bad', `${name} has a problem.`)}
<p class="screen"><a href="${linkTo(context, `connections/${emr.id}`)}">${name}</a> · Print this page to hand it over.</p>
<h1>${name}: report on its connection</h1>
${facts(report.facts)}
${error !== undefined && html`<p class="advice bad">The connection cannot be opened: ${error}</p>`}
${can.length > 0 && html`<h2>What works</h2>${abilities('What callers can do through the gateway', 'How', can)}`}
${cannot.length > 0 && html`<h2>What does not work</h2>${abilities('What callers cannot do', 'Instead', cannot)}`}
${limits.length > 0 && html`<h2>Limits</h2><ul>${limits.map((limit) => html`<li>${limit}</li>\n`)}</ul>`}
<h2>Findings of the check</h2>
${findingsTable(check)}
<h2>Care units</h2>
${facts(careUnits)}
<h2>Settings</h2>
<pre tabindex="0" role="region" aria-label="Settings, without secrets">${settings.trimEnd()}</pre>`,
  });
}

function abilities(caption: string, column: string, rows: readonly Ability[]): Html {
  return table(
    caption,
    ['Work', column],
    rows.map(({ what, how }) => [what, how === '' ? '–' : how]),
  );
}
