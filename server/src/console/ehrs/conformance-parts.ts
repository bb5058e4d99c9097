import { capabilities } from '@crossward/connector-kit/conformance';
import type { ConfiguredEmr } from '../../config/configuration.ts';
import type { ConformanceRun } from '../../ehr/conformance-runs.ts';
import { type Html, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { linkTo, type SignedIn } from '../frame/page.ts';
import { counted, duration, facts, table, time } from '../frame/parts.ts';

/** Every check of the kit, in its order. */
const checks = capabilities.flatMap(({ checks: own }) => own);

/** The way to the kit, for an admin. A draft is not checked with it. */
export function conformanceLink(context: SignedIn, { id }: Pick<ConfiguredEmr, 'id'>): Html | false {
  if (!includesRole(context.session.role, 'admin') || !context.deps.emrs.some((emr) => emr.id === id)) return false;
  return html` <a href="${linkTo(context, `connections/${id}/conformance`)}">Conformance kit</a>`;
}

/** What a run has found, without data of patients. */
export function conformanceResult(run: ConformanceRun): Html {
  const { results, careUnitId, books, startedAt, seconds, failure, leftBehind } = run;
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  const names = [...new Set(results.map(({ capability }) => capability))];
  const count = (name: string, of: string) =>
    results.filter(({ capability, outcome }) => capability === name && outcome === of).length || '–';
  return html`${facts([
    ['Run', html`${stateOf(run)}, began ${time(startedAt)}, ${duration(seconds)}`],
    ['Care unit', careUnitId],
    ['Scope', books ? 'reading and writing, for a patient for tests' : 'reading only: nothing was written'],
    ...(failure === null ? [] : [['Ended early', failure] as const]),
  ])}
${run.isInterrupted && books && html`<p class="advice bad">The gateway that ran it has stopped${during(run)}. Appointments of the patient that it had just booked may stand in the EHR: look there, and cancel them.</p>`}
${leftBehind.length > 0 && html`<p class="advice bad">Left in the EHR, because it could not be cancelled or withdrawn: ${leftBehind.join(', ')}</p>`}
${
  names.length > 0 &&
  table(
    'Checks by capability',
    ['Capability', 'Passed', 'Failed', 'Not checked', 'Not claimed'],
    names.map((name) => [
      name,
      count(name, 'passed'),
      count(name, 'failed'),
      count(name, 'not_checked'),
      count(name, 'not_claimed'),
    ]),
  )
}
${
  failed.length > 0 &&
  table(
    'Failed checks',
    ['Capability', 'Check', 'Why'],
    failed.map(({ capability, check, reason }) => [capability, check, reason]),
  )
}
${notChecked(run)}`;
}

function notChecked({ results }: ConformanceRun): Html | false {
  const byReason = Map.groupBy(
    results.filter(({ outcome }) => outcome === 'not_checked'),
    ({ reason }) => reason,
  );
  if (byReason.size === 0) return false;
  return table(
    'Not checked',
    ['Why', 'Checks'],
    [...byReason].map(([reason, of]) => [reason, counted(of.length, 'check')]),
  );
}

function stateOf({ endedAt, isInterrupted, failure }: ConformanceRun): string {
  if (isInterrupted) return 'interrupted';
  if (endedAt === null) return 'running';
  return failure === null ? 'complete' : 'ended early';
}

/** The check that a run was in. */
function during({ results }: ConformanceRun): string {
  const check = checks[results.length];
  return check ? ` during the check “${check.name}” (${check.capability})` : '';
}

/** How far a run is, and how long it may take still. */
export function conformanceProgress({ results, seconds, expectedSeconds }: ConformanceRun): Html {
  const { length: done } = results;
  const left =
    expectedSeconds === null
      ? 'The first run at an EHR usually takes one to ten minutes.'
      : `About ${duration(Math.max(10, expectedSeconds - seconds))} are left, after the time of the last run.`;
  return html`<p><label for="progress">${done} of ${checks.length} checks</label></p>
<progress id="progress" value="${done}" max="${checks.length}"></progress>
<p>${left}</p>`;
}
