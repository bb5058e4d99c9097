import type { ConfiguredEmr } from '../../config/configuration.ts';
import { pauseEhr, resumeEhr } from '../../ehr/pauses.ts';
import { type Html, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { act, NotPossible } from '../audit/act.ts';
import { selectField } from '../frame/fields.ts';
import { postForm } from '../frame/frame.ts';
import { type ConsoleResponse, type Route, type SignedIn, seeOther } from '../frame/page.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'connections/:emr/pause', role: 'operate', page: pauseConnection },
  { method: 'POST', path: 'connections/:emr/resume', role: 'operate', page: resumeConnection },
];

/** Minutes. */
const durations = [
  { value: 'open', text: 'until an operator resumes it' },
  { value: '15', text: '15 minutes' },
  { value: '60', text: '1 hour' },
  { value: '240', text: '4 hours' },
  { value: '1440', text: '1 day' },
] as const;

/** Pauses an EHR, or changes the end of its pause. */
function pauseConnection(context: SignedIn): Promise<ConsoleResponse> {
  const { form } = context.request;
  const chosen = durations.find(({ value }) => value === form.get('duration'));
  return change(context, 'emr_pause', 'paused', async (db, emr) => {
    if (!chosen) throw new NotPossible('no_duration');
    const until =
      chosen.value === 'open' ? null : new Date(context.deps.now().getTime() + Number(chosen.value) * 60_000);
    await pauseEhr(db, emr, until);
  });
}

/** Ends the pause of an EHR. */
function resumeConnection(context: SignedIn): Promise<ConsoleResponse> {
  return change(context, 'emr_resume', 'resumed', async (db, emr) => {
    if (!(await resumeEhr(db, emr))) throw new NotPossible('not_paused');
  });
}

async function change(
  context: SignedIn,
  action: 'emr_pause' | 'emr_resume',
  done: string,
  work: (...input: Parameters<typeof resumeEhr>) => Promise<void>,
): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const emr = deps.emrs.find(({ id }) => id === request.params.emr);
  if (!emr) return seeOther(context, 'connections?result=unknown');
  const result = await act(deps.services.db, session, { action, target: emr.id }, (tx) => work(tx, emr.id));
  await deps.refreshPauses();
  return seeOther(context, `connections/${emr.id}?result=${result instanceof NotPossible ? result.reason : done}`);
}

/** Whether an EHR is paused, and the form that changes it. */
export function pausePart(context: SignedIn, { id, name }: Pick<ConfiguredEmr, 'id' | 'name'>): Html {
  const pause = context.deps.services.ehrs.get(id)?.health().pause;
  const mayChange = includesRole(context.session.role, 'operate');
  return html`<h2>Pause</h2>
${
  pause
    ? html`<p>Callers get <code>ehr_paused</code>, and background work for this EHR waits.</p>`
    : html`<p>While an EHR is paused, the gateway does not call it: callers get <code>ehr_paused</code> with the end of the pause, and
background work waits. Calls that are running end by themselves.</p>`
}
${!mayChange && html`<p class="quiet">The role operate can pause and resume an EHR.</p>`}
${
  mayChange &&
  postForm(
    context,
    `connections/${id}/pause`,
    html`<div class="sheet">${selectField({ name: 'duration', label: pause ? 'New end' : 'For' }, durations)}</div>
<div class="actions"><button class="${pause ? 'secondary' : 'danger'}">${pause ? 'Change the end' : 'Pause'}<span class="aside"> ${pause ? 'of the pause of ' : ''}${name}</span></button></div>`,
  )
}`;
}
