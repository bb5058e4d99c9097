import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { patientIdentifier } from '../../../api/identifiers.ts';
import { recordedAccess } from '../../../api/recorded-access.ts';
import { asWrite } from '../../../appointments/as-write.ts';
import type { AppointmentBody } from '../../../appointments/contract.ts';
import { planChange } from '../../../appointments/plan-change.ts';
import { planCreation } from '../../../appointments/plan-creation.ts';
import type { RequestContext } from '../../../appointments/request-context.ts';
import { within } from '../../../context/work-context.ts';
import type { EhrConnection } from '../../../ehr/connection.ts';
import { requirePatient } from '../../../ehr/lookups.ts';
import { type Html, html } from '../../../html/html.ts';
import { formatIdentifier } from '../../../identifiers/index.ts';
import { describeError } from '../../../log/describe-error.ts';
import { inBody } from '../../../problems/places.ts';
import { Problem, unavailable } from '../../../problems/problem.ts';
import { isFinal } from '../../../problems/write-errors.ts';
import { instantFormatter } from '../../../time/date-times.ts';
import { write } from '../../../writes/write.ts';
import type { PlannedWrite, WriteResponse } from '../../../writes/write-kind.ts';
import { record, SessionEnded } from '../../audit/act.ts';
import { selectField, textField } from '../../frame/fields.ts';
import { postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../../frame/page.ts';
import { notice } from '../../frame/parts.ts';
import { type Connecting, findConnecting, isResponse } from './connection-parts.ts';
import { ofOperator, standingTries } from './standing-tries.ts';
import { stepTable, type TriedStep, whyFailed } from './try-steps.ts';

/** Makes the page that a form leads to, with its result. `attempt`: the same as before, to go on with it. */
type ShowTry = (context: SignedIn, emr: Connecting, above: Html, attempt?: string) => Promise<ConsoleResponse>;

/** The form that books and cancels, for an EHR that this gateway uses: recovery would not know a draft. */
export function bookingForm(context: SignedIn, emr: Connecting, attempt: string = randomUUID()): Html {
  const { id } = emr;
  const ehr = inUse(context, emr);
  const about = html`<h3>Book and cancel</h3>`;
  if (!ehr) {
    return html`${about}<p>A booking can be tried when the EHR is <a href="${linkTo(context, `connections/${id}/open`)}">open</a> and this
gateway is connected to it. No client can use it before it is granted the EHR.</p>`;
  }
  const { changes } = ehr.capabilities;
  if (!changes.includes('create') || !changes.includes('cancel'))
    return html`${about}<p>This EHR cannot both book and cancel through the gateway.</p>`;
  return html`${about}<p>Books the first free time that begins in an hour or later, for a patient whom you name, and cancels it again, as
a client would: with audit trail, retries and recovery. No code is asked for. Name a patient for tests: the EHR may tell the
patient, and clients with a grant get the events. The gateway does not keep the identifier.</p>
${postForm(
  context,
  `connections/${id}/try/booking`,
  html`<input type="hidden" name="attempt" value="${attempt}"><div class="sheet fields">${selectField(
    {
      name: 'booking_care_unit',
      label: 'Care unit',
      value: context.request.form.get('booking_care_unit') ?? undefined,
    },
    [...ehr.careUnits.values()].map((unit) => ({ value: unit.id, text: unit.name })),
  )}
${textField({ name: 'patient', label: 'Patient', hint: html`As clients name patients: <code>emr_id:p-3</code>, or another type that the EHR knows.`, maxLength: 300 })}</div>
<div class="actions"><button class="danger">Book and cancel</button></div>`,
)}`;
}

/** What this gateway uses of the stored EHR. A draft, or a row that does not open, may have the id of an EHR of the file. */
function inUse({ deps }: SignedIn, { id, isOpen, secrets }: Connecting): EhrConnection | undefined {
  const ehr = isOpen && secrets ? deps.services.ehrs.get(id) : undefined;
  return ehr?.isOpen ? ehr : undefined;
}

interface Trial {
  readonly context: RequestContext;
  /** Names the writes of a form, so that it books once however often it is sent. */
  readonly attempt: string;
  /** What to do after an unknown outcome. */
  readonly again: string;
  /** As the operator has typed it. */
  readonly patient: string;
  /** What names the patient in paths. */
  readonly hidden: Set<string>;
  readonly steps: TriedStep[];
  /** Notes an error that is a bug. */
  bug(error: unknown): void;
}

/** Books and cancels as a client would, in two writes, and shows what became of them. */
export async function tryBooking(context: SignedIn, show: ShowTry): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  const ehr = inUse(context, emr);
  const careUnit = ehr?.careUnits.get(form.get('booking_care_unit') ?? '');
  const patient = (form.get('patient') ?? '').trim();
  if (!ehr || !careUnit || patient === '')
    return show(context, emr, notice('bad', 'Nothing was booked. Choose a care unit, and name a patient.'));
  const attempt = attemptIn(form);
  const trial: Trial = {
    context: asClient(context, ehr, careUnit),
    attempt,
    again: 'Send the form again with the same patient to try once more',
    patient,
    hidden: new Set([patient, patient.slice(patient.indexOf(':') + 1)]),
    steps: [],
    bug: bugOf(context, emr),
  };
  // If this process is killed meanwhile, the next look finds what stands.
  await record(context.deps.services.db, context.session, { ...about, target: emr.id, outcome: 'begun' });
  const told = await bookAndCancel(context, trial);
  const isWell = trial.steps.length === 2 && trial.steps.every((step) => step.isWell);
  await recordEnd(context, emr.id, isWell, trial.bug);
  return show(context, emr, html`${told.text}${stepTable(trial.steps)}`, told.goesOn ? attempt : undefined);
}

const about = { action: 'emr_try_booking' } as const;

/** A booking that stands is told even if the database is away for a moment. */
async function recordEnd(
  { deps, session }: SignedIn,
  target: string,
  isWell: boolean,
  bug: Trial['bug'],
): Promise<void> {
  const outcome = isWell ? 'done' : 'problem';
  await record(deps.services.db, session, { ...about, target, outcome }).catch((error: unknown) => {
    if (error instanceof SessionEnded) throw error;
    bug(error);
  });
}

/** Cancels what a try has booked whose gateway was killed. With no appointment named: notes that nothing stands. */
export async function cancelStanding(context: SignedIn, show: ShowTry): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  const id = form.get('appointment') ?? '';
  const standing = await standingTries(context.deps.services, emr.id);
  const chosen = standing.find((it) => it.id === id);
  const ehr = inUse(context, emr);
  const careUnit = ehr?.careUnits.get(chosen?.careUnitId ?? '');
  if (standing.length === 0) {
    await record(context.deps.services.db, context.session, { ...about, target: emr.id, outcome: 'problem' });
    return show(context, emr, notice('good', 'Noted: no booking of a try stands.'));
  }
  if (!chosen || !ehr || !careUnit)
    return show(
      context,
      emr,
      notice('bad', 'Nothing was cancelled: choose an appointment that stands, of an EHR and a care unit in use.'),
    );
  const attempt = attemptIn(form);
  const trial: Trial = {
    context: asClient(context, ehr, careUnit),
    attempt: `standing:${attempt}`,
    again: 'Press the button again',
    patient: id,
    hidden: new Set([id]),
    steps: [],
    bug: bugOf(context, emr),
  };
  const told = await cancel(context, trial, {
    id,
    start: chosen.start,
    resource_id: chosen.resourceId,
  });
  await recordEnd(
    context,
    emr.id,
    trial.steps.every((it) => it.isWell),
    trial.bug,
  );
  return show(context, emr, html`${told.text}${stepTable(trial.steps)}`, told.goesOn ? attempt : undefined);
}

function attemptIn(form: URLSearchParams): string {
  return /^[0-9a-f-]{36}$/.exec(form.get('attempt') ?? '')?.[0] ?? randomUUID();
}

function bugOf({ deps }: SignedIn, { id: emr }: Connecting): Trial['bug'] {
  return (error) => deps.log.error({ emr, cause: describeError(error) }, 'trying a booking failed');
}

/** The operator in the place of a client, which has no such id. A care unit asks the trial for no code. */
function asClient(
  { deps, session }: SignedIn,
  ehr: RequestContext['ehr'],
  careUnit: RequestContext['careUnit'],
): RequestContext {
  return {
    services: deps.services,
    client: { id: `${ofOperator}${session.name}`, scopes: new Set(), grants: new Map(), returnUrls: [] },
    ehr,
    careUnit: { ...careUnit, bookingConfirmation: 'none', cancellationConfirmation: 'none' },
  };
}

interface Told {
  readonly text: Html;
  /** The form can be sent again to go on. */
  readonly goesOn: boolean;
}

async function bookAndCancel(context: SignedIn, trial: Trial): Promise<Told> {
  const operations = html`<a href="${linkTo(context, 'operations')}">Operations</a>`;
  const booked = await step(trial, 'create_appointment', 'Book', () => planFirstFree(trial));
  if (booked instanceof Problem) {
    if (isNothing(booked)) return { text: notice('bad', 'Nothing was booked.'), goesOn: false };
    const text = html`It is not known whether an appointment stands in the EHR. The gateway may still complete it: see ${operations}. ${trial.again}, or look for it in the EHR and cancel it there.`;
    return { text: notice('bad', text), goesOn: true };
  }
  return cancel(context, trial, booked);
}

function worked({ steps }: Trial): string {
  return steps.length === 1 ? 'The appointment is cancelled.' : 'Booking and cancellation work.';
}

type Booked = Pick<AppointmentBody, 'id' | 'start' | 'resource_id'>;

async function cancel(context: SignedIn, trial: Trial, booked: Booked): Promise<Told> {
  const operations = html`<a href="${linkTo(context, 'operations')}">Operations</a>`;
  const cancelled = await step(trial, 'change_appointment', 'Cancel', async () =>
    asWrite(trial.context, await planChange(trial.context, booked.id, { status: 'cancelled' }, noHeaders)),
  );
  if (!(cancelled instanceof Problem))
    return { text: notice('good', `${worked(trial)} Nothing is left in the EHR.`), goesOn: false };
  const where = html`appointment <code>${booked.id}</code>, ${booked.start}, resource <code>${booked.resource_id}</code>`;
  const text = isNothing(cancelled)
    ? html`The appointment stands in the EHR: ${where}. Cancel it there.`
    : html`It is not known whether the appointment still stands in the EHR: ${where}. The gateway may still cancel it: see ${operations}. ${trial.again}, or cancel it in the EHR.`;
  return { text: notice('bad', text), goesOn: !isNothing(cancelled) };
}

/** Whether the write has changed nothing in the EHR, and will not. */
function isNothing(problem: Problem): boolean {
  const isOpen = /^(idempotency_|partially_applied|internal_error)/.test(problem.reason);
  return isFinal(problem) && !isOpen;
}

/** Makes a write as a request of a client does. Returns the problem if it fails. */
async function step(
  { context, attempt, patient, hidden, steps, bug }: Trial,
  operation: string,
  name: string,
  plan: () => Promise<PlannedWrite>,
): Promise<AppointmentBody | Problem> {
  const { services, client, ehr, careUnit } = context;
  const about = { clientId: client.id, requestId: randomUUID() };
  const fingerprints = [JSON.stringify([operation, ehr.id, careUnit.id, patient])] as const;
  const keyed = { key: `${attempt}:${operation}`, fingerprints };
  const access = {
    ...about,
    actor: 'client' as const,
    operation,
    emr: ehr.id,
    careUnitId: careUnit.id,
    outcomeOf: (_: unknown, left: string | undefined) => left ?? 'success',
    notStored(cause: unknown) {
      throw unavailable('database_unavailable', { cause });
    },
  };
  const makeWrite = () => write(services, { ...about, ehr, careUnit, keyed, plan, begin: async () => undefined });
  const requests: string[] = [];
  const done = (isWell: boolean, result: string) =>
    steps.push({ name, isWell, result, requests: requests.map((request) => withoutIds(request, hidden)) });
  try {
    const { body } = await hearRequests(requests, () =>
      recordedAccess<WriteResponse>(services.audit, access, () => within({ clientId: client.id }, makeWrite)),
    );
    const made = body as AppointmentBody;
    done(true, `${made.status}: ${made.start}`);
    return made;
  } catch (error) {
    if (!(error instanceof Problem)) bug(error);
    const problem = error instanceof Problem ? error : new Problem('internal_error', { cause: error });
    done(false, whyFailed(problem));
    return problem;
  }
}

const days = 14;

async function planFirstFree({ context, patient: typed, hidden }: Trial): Promise<PlannedWrite> {
  const { ehr, careUnit } = context;
  const place = inBody('patient_id');
  const patient = await requirePatient(ehr, patientIdentifier(typed, place, ehr, noHeaders), place);
  hidden.add(patient.id);
  const start = new Date(Date.now() + 3_600_000);
  const [slot] = await ehr.call('listTimeSlots', {
    careUnit,
    start,
    end: new Date(start.getTime() + days * 86_400_000),
    ...(ehr.capabilities.slotsByPatient && { patientId: patient.id }),
    limit: 1,
  });
  if (!slot) throw new Problem('time_slot_unavailable', { detail: `No time is free within ${days} days.` });
  const format = instantFormatter(careUnit.timeZone);
  const body = {
    patient_id: typed,
    resource_id: formatIdentifier({ type: 'emr_id', value: slot.resourceId }),
    healthcare_service_id: slot.healthcareServiceId,
    start_time: format(slot.start),
    end_time: format(slot.end),
  };
  return asWrite(context, await planCreation(context, body, noHeaders));
}

function noHeaders(): undefined {
  return undefined;
}

const heard = new AsyncLocalStorage<string[]>();
const channel = 'undici:request:create';

/** Notes method and path of the HTTP requests that the work makes. */
async function hearRequests<Result>(requests: string[], work: () => Promise<Result>): Promise<Result> {
  const hear = (message: unknown) => {
    const { request } = message as { readonly request: { readonly method: string; readonly path: string } };
    if (heard.getStore() === requests) requests.push(`${request.method} ${request.path}`);
  };
  subscribe(channel, hear);
  try {
    return await heard.run(requests, work);
  } finally {
    unsubscribe(channel, hear);
  }
}

/**
 * A request without what may name a patient or a record: without its query, and of its path only plain words.
 *
 * @param hidden words that name the patient
 * @internal for the test
 */
export function withoutIds(methodAndPath: string, hidden: ReadonlySet<string>): string {
  const [path = ''] = methodAndPath.split('?');
  const isShown = (segment: string) => /^[$_]?[A-Za-z][A-Za-z_.-]*$|^R4$|^v\d$/.test(segment) && !hidden.has(segment);
  return path
    .split('/')
    .map((segment, index) => (index === 0 || segment === '' || isShown(segment) ? segment : '…'))
    .join('/');
}
