import { type ConnectorContext, ConnectorError, type ProbeFinding, type ProbeReport } from '@crossward/connector-kit';
import { chooseMode } from './booking/mode.ts';
import { type Proof, proveIfMatch, proveTransactions } from './booking/probe.ts';
import { readServerFacts, type ServerFacts } from './capability-statement.ts';
import type { FhirClient } from './client.ts';
import { connect, type FhirConnection, signIn } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import type { FhirSlot } from './fhir.ts';
import { probeNumbers } from './probe-numbers.ts';
import { servicesInUse } from './probe-services.ts';
import { type BookingMode, defaultOperationSystem, type FhirSettings } from './settings.ts';
import { searchSlots } from './time-slots.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** What a server is and does, before anybody trusts the connection to it. */
export async function probeFhirR4(context: ConnectorContext<FhirSettings>): Promise<ProbeReport> {
  const findings: ProbeFinding[] = [];
  const recommended: Record<string, unknown> = {};
  const client = await attempt(findings, 'sign-in', () => signIn(context));
  const facts = client && (await attempt(findings, 'CapabilityStatement', () => readServerFacts(client)));
  if (!client || !facts) return { findings, recommendedSettings: {} };
  findings.push({
    name: 'CapabilityStatement',
    status: 'ok',
    detail: 'The server can be reached and says what it is.',
  });
  const mode = await probeBooking(context.settings, client, facts, findings, recommended);
  const ehr = await attempt(findings, 'care units', async () => connect(context, client, facts, mode));
  if (ehr) await attempt(findings, 'numbers', () => probeNumbers(ehr, findings, recommended));
  for (const { id } of ehr ? context.careUnits : [])
    await probeCareUnit(ehr as FhirConnection, id, findings, recommended);
  return { findings, recommendedSettings: recommended };
}

async function probeBooking(
  settings: FhirSettings,
  client: FhirClient,
  facts: ServerFacts,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<BookingMode> {
  const system = settings.booking?.operation_system ?? defaultOperationSystem;
  if (facts.can('Slot', 'update')) {
    if (facts.transactions) {
      const proof = await attempt(findings, 'transactions are atomic', () => proveTransactions(client, system));
      if (proof) findings.push(told('transactions are atomic', proof, 'what fails is done in part'));
    }
    const proof = await attempt(findings, 'If-Match is heeded', () => proveIfMatch(client));
    if (proof) findings.push(told('If-Match is heeded', proof, 'what others have changed would be overwritten'));
  }
  const automatic = { ...settings, booking: { ...settings.booking, mode: 'auto' as const } };
  const best = (await attempt(findings, 'booking', () => chooseMode(client, facts, automatic))) ?? 'none';
  const wanted = settings.booking?.mode ?? 'auto';
  findings.push(
    best === 'none' && (wanted === 'auto' || wanted === 'none')
      ? { name: 'booking', status: 'warning', detail: 'No safe way to book was seen: appointments can be read only.' }
      : { name: 'booking', status: 'ok', detail: `Booking by ${wanted === 'auto' ? best : wanted}.` },
  );
  const isSafer = best === 'transaction' || best === 'slot_claim';
  if (wanted !== 'auto' && wanted !== 'none' && wanted !== best && isSafer) recommended.booking = { mode: best };
  return wanted === 'auto' ? best : wanted;
}

function told(name: string, proof: Proof, consequence: string): ProbeFinding {
  switch (proof) {
    case 'held':
      return { name, status: 'ok', detail: 'Tried, and so it is.' };
    case 'broken':
      return { name, status: 'warning', detail: `They are not: ${consequence}. Another way to book is taken.` };
    case 'unproven':
      return {
        name,
        status: 'untried',
        detail: 'The server has no slot or schedule to try it on, or did not take the trial.',
      };
  }
}

/** Whether a care unit has anybody to book, and which form of search finds their slots. */
async function probeCareUnit(
  ehr: FhirConnection,
  id: string,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const name = `care unit ${id}`;
  const directory = await attempt(findings, name, () => ehr.directory.of({ id }));
  if (!directory) return;
  const schedules = directory.schedulesOf(undefined);
  if (schedules.length === 0) {
    findings.push({ name, status: 'warning', detail: 'It has no schedule with a practitioner, location or device.' });
    return;
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
      await probeServices(ehr, directory, found, findings, recommended);
      return;
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      refusal ??= error;
      if (error.kind !== 'rejected' && error.kind !== 'unsupported') break;
    }
  }
  findings.push({ name, status: 'problem', detail: `Slots cannot be searched for: ${refusal?.message}.` });
}

/** Slots that are for no service that is known cannot be shown, nor booked. */
async function probeServices(
  { client }: FhirConnection,
  { careUnitId, resources }: CareUnitDirectory,
  slots: readonly FhirSlot[],
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  if (resources.some(({ healthcareServiceIds }) => healthcareServiceIds.length > 0)) return;
  const name = `care unit ${careUnitId}`;
  const detail = 'Nothing can be booked: no healthcare service fits its schedules.';
  findings.push({ name, status: 'warning', detail });
  recommended.healthcare_services ??= await attempt(findings, name, () => servicesInUse(client, slots));
}

/** What goes wrong is a finding. */
async function attempt<Result>(
  findings: ProbeFinding[],
  name: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    findings.push({ name, status: 'problem', detail: `${error.message}.` });
    return undefined;
  }
}
