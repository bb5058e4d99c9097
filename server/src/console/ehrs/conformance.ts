import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PatientIdentifier } from '@crossward/connector-kit';
import { type CheckResult, runConformance } from '@crossward/connector-kit/conformance';
import type { ConfiguredEmr } from '../../config/configuration.ts';
import type { ChosenEmr } from '../../ehr/check-connection.ts';
import { claimRun, heartbeat, keepRun, readRun } from '../../ehr/conformance-runs.ts';
import { type KnownOfEhr, openSubject } from '../../ehr/conformance-subject.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { type Html, html } from '../../html/html.ts';
import { IdentifierError } from '../../identifiers/index.ts';
import { parsePatientIdentifier } from '../../identifiers/notation.ts';
import { describeError } from '../../log/describe-error.ts';
import { act, NotPossible } from '../audit/act.ts';
import { selectField, textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleDeps, type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { duration, type FieldMistake, mistakeSummary, notice } from '../frame/parts.ts';
import { conformanceProgress, conformanceResult } from './conformance-parts.ts';
import { describeFailure } from './connections.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/conformance', role: 'admin', page: conformancePage },
  { method: 'POST', path: 'connections/:emr/conformance', role: 'admin', page: startRun },
];

async function conformancePage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = emrOf(context);
  return emr ? page(context, emr, []) : seeOther(context, 'connections?result=unknown');
}

function emrOf({ deps, request }: SignedIn): ConfiguredEmr | undefined {
  return deps.emrs.find(({ id }) => id === request.params.emr);
}

/** Begins a run in this process. It goes on when the page is left. */
async function startRun(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const emr = emrOf(context);
  const module = deps.connectors.find(({ name }) => name === emr?.connector);
  const ehr = emr && deps.services.ehrs.get(emr.id);
  if (!emr || !module || !ehr) return seeOther(context, 'connections?result=unknown');
  const careUnit = emr.care_units.find(({ id }) => id === request.form.get('care_unit'));
  if (!careUnit) return page(context, emr, [['care_unit', 'Care unit: choose one']]);
  if (!ehr.isOpen || ehr.health().pause)
    return page(context, emr, [['care_unit', 'The EHR is paused, or not connected yet.']]);
  const patient = patientOf(emr, ehr, request.form);
  if ('mistake' in patient) return page(context, emr, [patient.mistake]);
  const { identifiers } = patient;
  const run = { emr: emr.id, run: randomUUID(), careUnitId: careUnit.id, books: identifiers !== undefined };
  const result = await act(deps.services.db, session, { action: 'emr_conformance', target: emr.id }, async (tx) => {
    if (!(await claimRun(tx, run))) throw new NotPossible('running');
  });
  if (result instanceof NotPossible)
    return page(context, emr, [['care_unit', 'A run is under way at this EHR. Wait until it has ended.']]);
  const other = emr.care_units.find(({ id }) => id !== careUnit.id);
  const known: KnownOfEhr = {
    careUnit: { id: careUnit.id, timeZone: careUnit.time_zone },
    otherCareUnit: other && { id: other.id, timeZone: other.time_zone },
    factsOf: () => ({ patient: identifiers, oneSlotOnly: request.form.has('one_slot') }),
  };
  void runKit(deps, { emr, module }, known, run);
  return seeOther(context, `connections/${emr.id}/conformance?result=started`);
}

type Named = { readonly identifiers: readonly PatientIdentifier[] | undefined } | { readonly mistake: FieldMistake };

/** The patient of a form. Without one, the run only reads. */
function patientOf(emr: ConfiguredEmr, ehr: EhrConnection, form: URLSearchParams): Named {
  const words = (form.get('patient') ?? '').split(/[\s,]+/).filter((it) => it !== '');
  if (words.length === 0) return { identifiers: undefined };
  const policy = {
    types: ehr.capabilities.patientIdentifierTypes,
    synthetic: emr.synthetic_identifiers,
    checkDigits: emr.check_digits,
    reserveNumbers: emr.reserve_numbers,
  };
  try {
    const identifiers = words.map((word) => parsePatientIdentifier(word, policy));
    if (form.has('sure')) return { identifiers };
    return { mistake: ['sure', 'Nothing was run. Tick that the patient is for tests.'] };
  } catch (error) {
    if (!(error instanceof IdentifierError)) throw error;
    return { mistake: ['patient', `Patient: ${error.message}`] };
  }
}

/** Milliseconds without the database after which a run ends: it is soon taken for an interrupted one. */
const longestSilence = 40_000;

interface Begun {
  readonly emr: string;
  readonly run: string;
  readonly books: boolean;
}

/** Runs the kit and keeps what it finds. A run that cannot be kept ends, because another gateway may begin one. */
async function runKit(
  { services: { db }, database, log }: ConsoleDeps,
  chosen: ChosenEmr,
  known: KnownOfEhr,
  { emr, run, books }: Begun,
): Promise<void> {
  const results: CheckResult[] = [];
  const stop = new AbortController();
  let keptAt = performance.now();
  const beat = setInterval(() => {
    if (performance.now() - keptAt > longestSilence) stop.abort();
    const askedAt = performance.now();
    keepRun(db, run, { results }).then(
      (isOurs) => {
        keptAt = Math.max(keptAt, askedAt);
        if (!isOurs) stop.abort();
      },
      () => undefined,
    );
  }, heartbeat * 1000);
  const end = await work().catch((error: unknown) => ({ failure: failureOf(error) }));
  clearInterval(beat);
  const kept = { results, ...(stop.signal.aborted && { failure: 'The database was away.' }), ...end, isEnd: true };
  for (let attempt = 1; attempt <= 5; attempt++) {
    try {
      await keepRun(db, run, kept);
      return;
    } catch (error) {
      log.error({ emr, cause: describeError(error) }, 'the end of a conformance run was not stored');
      await pause(heartbeat * 1000);
    }
  }

  async function work() {
    const subject = await openSubject(chosen, known, database);
    try {
      const onResult = (result: CheckResult) => void results.push(result);
      const { leftBehind } = await runConformance(subject, { readOnly: !books, onResult, signal: stop.signal });
      // Whose ids name patients, as those of some producers do, is told by their number alone.
      const { appointmentIdsNamePatients } = subject.connector.capabilities;
      const count = leftBehind.length;
      return { leftBehind: appointmentIdsNamePatients && count > 0 ? [`${count} records of the patient`] : leftBehind };
    } finally {
      await subject.close?.();
    }
  }

  function failureOf(error: unknown): string {
    try {
      return describeFailure(error);
    } catch {
      log.error({ emr, cause: describeError(error) }, 'a conformance run failed');
      return 'An error of the gateway: the log has it.';
    }
  }
}

async function page(
  context: SignedIn,
  emr: ConfiguredEmr,
  mistakes: readonly FieldMistake[],
): Promise<ConsoleResponse> {
  const run = await readRun(context.deps.services.db, emr.id);
  const isRunning = run !== undefined && run.endedAt === null && !run.isInterrupted;
  const isWrong = mistakes.length > 0;
  const isStarted = context.request.query.get('result') === 'started';
  return consolePage(context, {
    title: `${isWrong ? 'Error: ' : ''}Conformance of ${emr.name}`,
    section: 'connections',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('Nothing was run.', mistakes)}
${isStarted && isRunning && notice('good', 'The run has begun. It goes on when you leave this page.')}
<p><a href="${linkTo(context, `connections/${emr.id}`)}">${emr.name}</a></p>
<div class="title"><h1>Conformance of ${emr.name}</h1>
<p class="quiet"><a href="${linkTo(context, `connections/${emr.id}/conformance`)}">Refresh</a></p></div>
${isRunning && conformanceProgress(run)}
${run && html`<h2>${isRunning ? 'So far' : 'The last run'}</h2>${conformanceResult(run)}`}
${!isRunning && form(context, emr, mistakes, run?.failure === null && !run.isInterrupted ? run.seconds : undefined)}`,
  });
}

function form(
  context: SignedIn,
  emr: ConfiguredEmr,
  mistakes: readonly FieldMistake[],
  lastSeconds: number | undefined,
): Html {
  const { form: sent } = context.request;
  const problem = (name: string) => mistakes.find(([it]) => it === name)?.[1];
  return html`<h2>New run</h2>
<p>The conformance kit checks that the EHR does what its connector claims, one check at a time.
${lastSeconds === undefined ? 'It usually takes one to ten minutes, with an EHR that is slow or allows few requests much longer.' : `The last run took ${duration(lastSeconds)}.`}
The report has its result.</p>
<ul><li><strong>Without a patient</strong> it writes nothing, and checks what can be read.</li>
<li><strong>With a patient for tests</strong> it books, moves and cancels appointments of this patient, many times, and takes the free
times of the care unit meanwhile. It writes notes, documents and schedules, if the EHR takes them. What the EHR cannot withdraw stays,
and is listed. The EHR may tell the patient.</li></ul>
<p>Checks that need to know more of the EHR, such as other patients, numbers of staff or changes by staff, are told as not checked:
<code>crossward conformance</code> has options for them.</p>
${postForm(
  context,
  `connections/${emr.id}/conformance`,
  html`<div class="sheet fields">${selectField(
    {
      name: 'care_unit',
      label: 'Care unit',
      value: sent.get('care_unit') ?? undefined,
      problem: problem('care_unit'),
    },
    emr.care_units.map(({ id, name }) => ({ value: id, text: name })),
  )}
${textField({
  name: 'patient',
  label: 'Patient for tests',
  hint: html`One identifier of each type that the EHR knows, with spaces between them, such as <code>emr_id:12</code>. Empty: nothing is written. The gateway does not keep it.`,
  value: '',
  isOptional: true,
  maxLength: 500,
  problem: problem('patient'),
})}</div>
<label class="check"><input type="checkbox" name="one_slot"> An appointment takes exactly one time slot: a longer one is refused</label>
<label class="check"><input type="checkbox" name="sure" id="sure"> The patient is for tests, and the EHR may be written to</label>
<div class="actions"><button class="danger">Run the kit</button></div>`,
)}`;
}
