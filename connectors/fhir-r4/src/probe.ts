import { type ConnectorContext, ConnectorError, type ProbeFinding, type ProbeReport } from '@crossward/connector-kit';
import { settingsThatSignIn } from './auth/sign-in-trial.ts';
import { readServerFacts } from './capability-statement.ts';
import type { EhrClock } from './clock.ts';
import { connect, type FhirConnection, signIn } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import type { FhirSlot } from './fhir.ts';
import { attempt } from './probe-attempt.ts';
import { probeBooking } from './probe-booking.ts';
import { probeNumbers } from './probe-numbers.ts';
import { servicesInUse } from './probe-services.ts';
import type { FhirSettings } from './settings.ts';
import { searchSlots } from './time-slots.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** What a server is and does, before anybody trusts the connection to it. */
export async function probeFhirR4(asConfigured: ConnectorContext<FhirSettings>): Promise<ProbeReport> {
  const findings: ProbeFinding[] = [];
  const recommended: Record<string, unknown> = {};
  const settings = await probeSignIn(asConfigured, findings, recommended);
  if (!settings) return { findings, recommendedSettings: {} };
  const context = { ...asConfigured, settings };
  const client = await attempt(findings, 'sign-in', () => signIn(context));
  const facts = client && (await attempt(findings, 'CapabilityStatement', () => readServerFacts(client)));
  if (!client || !facts) return { findings, recommendedSettings: {} };
  findings.push({
    name: 'CapabilityStatement',
    status: 'ok',
    detail: 'The server can be reached and says what it is.',
  });
  findings.push(clockFinding(client.clock));
  const mode = await probeBooking(context.settings, client, facts, findings, recommended);
  const ehr = await attempt(findings, 'care units', async () => connect(context, client, facts, mode));
  if (ehr) await attempt(findings, 'numbers', () => probeNumbers(ehr, findings, recommended));
  if (ehr) await probeCareUnits(ehr, context, findings, recommended);
  return { findings, recommendedSettings: recommended };
}

/** Holds go by the EHR's clock, so a difference does them no harm. */
function clockFinding(clock: EhrClock): ProbeFinding {
  const name = 'clock';
  const ahead = clock.ahead();
  if (ahead === undefined) return { name, status: 'untried', detail: 'The server does not say what time it has.' };
  if (ahead === 0) return { name, status: 'ok', detail: 'It is in step with ours.' };
  const difference = `${Math.abs(ahead) / 1000} seconds ${ahead > 0 ? 'ahead of' : 'behind'} ours`;
  return { name, status: 'warning', detail: `It is ${difference}. Holds go by it, but a token may be refused.` };
}

/** The settings that the rest is looked at with. `undefined`: the server does not let us in. */
async function probeSignIn(
  context: ConnectorContext<FhirSettings>,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<FhirSettings | undefined> {
  const settings = await attempt(findings, 'sign-in', () => settingsThatSignIn(context));
  if (settings?.auth?.type === 'client_credentials' && settings !== context.settings) {
    const { send_secret_in } = settings.auth;
    findings.push({
      name: 'sign-in',
      status: 'problem',
      detail: `The token endpoint takes the secret in the ${send_secret_in} only. The rest was looked at like that.`,
    });
    recommended.auth = { send_secret_in };
  }
  return settings;
}

/** What was seen of a care unit that has somebody to book, or may have. */
interface SeenCareUnit {
  readonly services: 'some' | 'none' | 'unknown';
  readonly slots: readonly FhirSlot[];
}

const unseen: SeenCareUnit = { services: 'unknown', slots: [] };

/** Services are recommended where no care unit has any: others could no longer be booked by those that they have. */
async function probeCareUnits(
  ehr: FhirConnection,
  { careUnits }: Pick<ConnectorContext<FhirSettings>, 'careUnits'>,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const seen: SeenCareUnit[] = [];
  for (const { id } of careUnits) seen.push(...(await probeCareUnit(ehr, id, findings, recommended)));
  if (seen.length === 0 || seen.some(({ services }) => services !== 'none')) return;
  const slots = seen.flatMap((it) => it.slots);
  const services = await attempt(findings, 'healthcare services', () => servicesInUse(ehr.client, slots));
  if (services) recommended.healthcare_services = services;
}

/** Whether a care unit has anybody to book, and which form of search finds their slots. */
async function probeCareUnit(
  ehr: FhirConnection,
  id: string,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<readonly SeenCareUnit[]> {
  const name = `care unit ${id}`;
  const directory = await attempt(findings, name, () => ehr.directory.of({ id }));
  if (!directory) return [unseen];
  const schedules = directory.schedulesOf(undefined);
  if (schedules.length === 0) {
    findings.push({ name, status: 'warning', detail: 'It has no schedule with a practitioner, location or device.' });
    return [];
  }
  const range = { start: new Date(), before: new Date(Date.now() + weekMilliseconds), statuses: 'free' };
  const forms: readonly NonNullable<FhirSettings['slots']>[] = [
    ehr.settings.slots ?? {},
    { ...ehr.settings.slots, require_service_type: true },
    { ...ehr.settings.slots, search_by: 'schedule.actor', require_service_type: true },
  ];
  let refusal: ConnectorError | undefined;
  for (const slots of forms) {
    try {
      const found = await searchSlots({ ...ehr, settings: { ...ehr.settings, slots } }, directory, schedules, range);
      const detail = `${directory.resources.length} resources, ${found.length} free slots in the next week.`;
      if (refusal && found.length === 0) {
        // What is asked for beyond the range may be what finds nothing.
        const why = `A search that asks for less was refused: ${refusal.message}.`;
        findings.push({ name, status: 'warning', detail: `${detail} ${why}` });
      } else {
        findings.push({ name, status: 'ok', detail });
        if (refusal) recommended.slots = slots;
      }
      return [{ services: servicesOf(directory, findings), slots: found }];
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      refusal ??= error;
      if (error.kind !== 'rejected' && error.kind !== 'unsupported') break;
    }
  }
  findings.push({ name, status: 'problem', detail: `Slots cannot be searched for: ${refusal?.message}.` });
  return [unseen];
}

/** Slots that are for no service that is known cannot be shown, nor booked. */
function servicesOf({ careUnitId, resources }: CareUnitDirectory, findings: ProbeFinding[]): 'some' | 'none' {
  if (resources.some(({ healthcareServiceIds }) => healthcareServiceIds.length > 0)) return 'some';
  const detail = 'Nothing can be booked: no healthcare service fits its schedules.';
  findings.push({ name: `care unit ${careUnitId}`, status: 'warning', detail });
  return 'none';
}
