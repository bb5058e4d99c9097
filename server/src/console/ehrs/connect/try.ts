import { randomUUID } from 'node:crypto';
import type { CareUnit, Connector, HealthcareService, Resource } from '@crossward/connector-kit';
import type { ConfiguredEmr } from '../../../config/configuration.ts';
import { configuredEmr } from '../../../config/one-emr.ts';
import { type BoundEmr, bindEmr } from '../../../ehr/check-connection.ts';
import { type Html, html } from '../../../html/html.ts';
import { record } from '../../audit/act.ts';
import { selectField } from '../../frame/fields.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { counted, notice } from '../../frame/parts.ts';
import { settingsLack } from './check.ts';
import { type Connecting, findConnecting, isResponse, stepHead } from './connection-parts.ts';
import { standingPart } from './standing-tries.ts';
import { bookingForm, cancelStanding, tryBooking } from './try-booking.ts';
import { stepTable, type TriedStep, whyFailed } from './try-steps.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/try', role: 'admin', page: tryPage },
  { method: 'POST', path: 'connections/:emr/try', role: 'admin', page: trySearch },
  {
    method: 'POST',
    path: 'connections/:emr/try/booking',
    role: 'admin',
    page: (context) => tryBooking(context, page),
  },
  {
    method: 'POST',
    path: 'connections/:emr/try/cancel',
    role: 'admin',
    page: (context) => cancelStanding(context, page),
  },
];

const days = 14;
const mostSlots = 10;

async function tryPage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  return isResponse(emr) ? emr : page(context, emr, false);
}

/** Searches a care unit as a client would. It names no patient. */
async function trySearch(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { deps, session, request } = context;
  if (!emr.module || settingsLack(emr)) return seeOther(context, `connections/${emr.id}/settings`);
  const configured = configuredEmr({ ...Object(emr.definition), care_units: unitsOf(emr) }, emr.secrets ?? {});
  const unit = configured.care_units.find(({ id }) => id === request.form.get('care_unit'));
  if (!unit) return page(context, emr, notice('bad', 'Choose a care unit.'));
  const requests: string[] = [];
  const chosen = { emr: configured, module: emr.module };
  const steps = await bindEmr(chosen, deps.database, (made) => requests.push(made)).then(
    (bound) => search(bound, { id: unit.id, timeZone: unit.time_zone }, requests).finally(() => bound.close()),
    (error: unknown): readonly TriedStep[] => [
      { name: 'Connect', isWell: false, result: whyFailed(error), requests: [] },
    ],
  );
  const isWell = steps.every((step) => step.isWell);
  await record(deps.services.db, session, {
    action: 'emr_try_search',
    target: emr.id,
    outcome: isWell ? 'done' : 'problem',
  });
  return page(context, emr, resultOf(context, emr, steps, isWell));
}

function unitsOf({ definition }: Connecting): ConfiguredEmr['care_units'] {
  const units: unknown = Object(definition).care_units;
  return Array.isArray(units) ? units : [];
}

/** A step that fails ends the search. */
async function search(bound: BoundEmr, careUnit: CareUnit, requests: string[]): Promise<readonly TriedStep[]> {
  const steps: TriedStep[] = [];
  const step = async <Result>(name: string, work: () => Promise<Result>, inWords: (result: Result) => string) => {
    const before = requests.length;
    const done = (isWell: boolean, result: string) =>
      steps.push({ name, isWell, result, requests: requests.slice(before) });
    try {
      const result = await work();
      done(true, inWords(result));
      return result;
    } catch (error) {
      done(false, whyFailed(error));
      return undefined;
    }
  };
  const connector = await step(
    'Connect',
    () => bound.open(),
    () => 'The connection is open.',
  );
  if (!connector) return steps;
  const { listResources, listHealthcareServices } = connector;
  if (listResources) {
    const told = (found: readonly Resource[]) => `${counted(found.length, 'resource')}: ${namesOf(found)}`;
    if (!(await step('Resources', () => listResources(careUnit), told))) return steps;
  }
  if (listHealthcareServices) {
    const told = (found: readonly HealthcareService[]) => `${counted(found.length, 'service')}: ${namesOf(found)}`;
    if (!(await step('Services', () => listHealthcareServices(careUnit), told))) return steps;
  }
  await searchSlots(step, connector, careUnit);
  return steps;
}

async function searchSlots(
  step: <Result>(
    name: string,
    work: () => Promise<Result>,
    inWords: (result: Result) => string,
  ) => Promise<Result | undefined>,
  connector: Connector,
  careUnit: CareUnit,
): Promise<void> {
  const { capabilities, listTimeSlots } = connector;
  // Nobody is named here.
  if (!listTimeSlots || capabilities.slotsByPatient === 'required') return;
  const start = new Date();
  const end = new Date(start.getTime() + days * 86_400_000);
  const local = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: careUnit.timeZone,
  });
  await step(
    'Free times',
    () => listTimeSlots({ careUnit, start, end, limit: mostSlots }),
    (slots) =>
      slots.length === 0
        ? `No free time in ${days} days.`
        : `The first in ${days} days: ${[...new Set(slots.map((slot) => local.format(slot.start)))].join('; ')} (${careUnit.timeZone})`,
  );
}

function namesOf(found: readonly { readonly name: string }[]): string {
  const names = found.slice(0, 10).map(({ name }) => name);
  return `${names.join(', ')}${found.length > names.length ? ' …' : ''}`;
}

function resultOf(context: SignedIn, { id }: Connecting, steps: readonly TriedStep[], isWell: boolean): Html {
  return html`${isWell ? notice('good', 'The search works.') : notice('bad', 'The search has failed.')}
${stepTable(steps)}
<p><a href="${linkTo(context, `connections/${id}/open`)}">Go on</a></p>`;
}

async function page(
  context: SignedIn,
  emr: Connecting,
  above: Html | false,
  attempt: string = randomUUID(),
): Promise<ConsoleResponse> {
  const units = unitsOf(emr);
  return consolePage(context, {
    title: `Try ${emr.name}`,
    section: 'connections',
    content: html`${stepHead(context, emr, 'try')}
<h2>Try</h2>
${above}
${await standingPart(context, emr.id, attempt)}
<h3>Search</h3>
<p>Searches the resources, the services and the free times of a care unit as a client would. It names no patient. What the
connector tries out to connect it takes back.</p>
${
  units.length === 0
    ? html`<p class="empty">Add a care unit first.</p>`
    : postForm(
        context,
        `connections/${emr.id}/try`,
        html`<div class="sheet fields">${selectField(
          { name: 'care_unit', label: 'Care unit', value: context.request.form.get('care_unit') ?? undefined },
          units.map(({ id, name }) => ({ value: String(id), text: String(name) })),
        )}</div>
<div class="actions"><button>Search</button></div>`,
      )
}
${units.length > 0 && bookingForm(context, emr, attempt)}`,
  });
}
