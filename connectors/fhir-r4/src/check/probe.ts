import {
  type ConnectorContext,
  ConnectorError,
  type ProbeFinding,
  type ProbeReport,
  type ServerDescription,
} from '@crossward/connector-kit';
import type { Booking } from '../booking/booking.ts';
import { assertSuits, openBooking } from '../booking/choose-booking.ts';
import { horizonDays } from '../schedules/grow.ts';
import { lackedForSchedules } from '../schedules/operations.ts';
import { readServerFacts, type ServerFacts } from '../server/capability-statement.ts';
import type { EhrClock } from '../server/clock.ts';
import { connect, type FhirConnection, signIn } from '../server/connection.ts';
import { createAuthorizer } from '../server/sign-in/create-authorizer.ts';
import type { AuthSettings, BookingMode, FhirSettings } from '../settings.ts';
import { attempt } from './attempt.ts';
import { probeBooking } from './booking-modes.ts';
import { probeCareUnits } from './care-units.ts';
import { probeAppointments, probeChanges, probeHabits, probePatientSearch, probeProfiles } from './habits.ts';
import { probeDocuments, probeMedicalNotes } from './notes-and-documents.ts';
import { probeNumbers } from './numbers.ts';
import { probeRightToBook } from './right-to-book.ts';

/** `crossward emr check`: which server it is, what it supports, and which settings to use. */
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
    detail: 'The server can be reached and speaks FHIR.',
  });
  findings.push(clockFinding(client.clock));
  const mode = await probeBooking(context.settings, client, facts, findings, recommended);
  await attempt(findings, 'booking', async () => assertSuits(mode, settings));
  const ehr = await attempt(findings, 'care units', async () => connect(context, client, facts));
  if (ehr) await probeRightToBook(ehr, mode, facts, findings, recommended);
  if (ehr) await attempt(findings, 'numbers', () => probeNumbers(ehr, findings, recommended));
  if (ehr) await probeRecords(ehr, mode, facts, context.careUnits, findings, recommended);
  const booking = ehr && openBooking(mode, ehr, facts);
  if (booking) probeMoves(booking, findings);
  if (ehr && booking) await probeCareUnits(ehr, booking, context, findings, recommended);
  if (ehr) await probePatientSearch(ehr, findings, recommended);
  // With a header that names the patient, nothing is asked of everybody.
  if (ehr && !settings.patient_header) {
    await probeAppointments(ehr, context.careUnits, findings, recommended);
    await probeChanges(ehr, facts, context.careUnits, findings);
  }
  if (ehr) probeHabits(ehr, findings, recommended);
  if (ehr) probeProfiles(ehr, facts, findings);
  return { findings, recommendedSettings: recommended };
}

/** Whether appointments can be moved, or could be by booking anew. */
function probeMoves({ capabilities: { changes, rebooks } }: Booking, findings: ProbeFinding[]): void {
  const couldRebook = changes.includes('create') && changes.includes('cancel');
  if (changes.includes('update') || rebooks || !couldRebook) return;
  const detail =
    'The server does not move appointments. With booking.rebooks: true, a move books the new time and cancels the former appointment.';
  findings.push({ name: 'moves', status: 'note', detail });
}

/** From the CapabilityStatement. */
export async function describeFhirR4(context: ConnectorContext<FhirSettings>): Promise<ServerDescription> {
  return (await readServerFacts(await signIn(context))).describe();
}

/** Medical notes, documents and schedules. */
async function probeRecords(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
  careUnits: ConnectorContext<FhirSettings>['careUnits'],
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const parts: readonly (readonly [string, () => Promise<ProbeFinding>])[] = [
    ['medical notes', () => probeMedicalNotes(ehr, facts, careUnits, recommended)],
    ['documents', () => probeDocuments(ehr, facts, careUnits, recommended)],
    ['schedules', async () => probeSchedules(ehr, mode, facts, recommended)],
  ];
  for (const [name, probe] of parts) {
    const finding = await attempt(findings, name, probe);
    if (finding) findings.push(finding);
  }
}

/** Holds use the EHR's clock, so a difference does not affect them. */
function clockFinding(clock: EhrClock): ProbeFinding {
  const name = 'clock';
  const ahead = clock.ahead();
  if (ahead === undefined) return { name, status: 'untried', detail: 'The server sends no Date header.' };
  if (ahead === 0) return { name, status: 'ok', detail: 'It agrees with ours.' };
  const difference = `${Math.abs(ahead) / 1000} seconds ${ahead > 0 ? 'ahead of' : 'behind'} ours`;
  return { name, status: 'warning', detail: `It is ${difference}. Holds use it, but a token may be rejected.` };
}

/** Returns the settings for the rest of the check. `undefined`: the sign-in failed. */
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
      detail: `The token endpoint takes the secret in the ${send_secret_in} only. The rest was checked with that.`,
    });
    recommended.auth = { send_secret_in };
  }
  return settings;
}

/**
 * Signs in, and returns the settings. If the server rejects them, tries the client secret in the other place (header or
 * body), and returns the settings that work.
 *
 * @throws ConnectorError the first rejection, if both fail
 */
async function settingsThatSignIn({ settings, http }: ConnectorContext<FhirSettings>): Promise<FhirSettings> {
  const signIn = async (auth: AuthSettings) => (await createAuthorizer(auth, settings.base_url, http)).headers();
  const { auth = { type: 'none' } } = settings;
  try {
    await signIn(auth);
    return settings;
  } catch (error) {
    const isRejected = error instanceof ConnectorError && error.kind === 'rejected';
    if (!isRejected || auth.type !== 'client_credentials') throw error;
    const otherPlace = { ...auth, send_secret_in: auth.send_secret_in === 'body' ? 'header' : 'body' } as const;
    const signedIn = await signIn(otherPlace).catch(() => undefined);
    if (!signedIn) throw error;
    return { ...settings, auth: otherPlace };
  }
}

const name = 'schedules';

/**
 * Reports whether schedules can be written, as the settings say. Recommends to turn writing off where it is not possible,
 * and never to turn it on: it changes a clinic's calendar. Writes nothing.
 */
function probeSchedules(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
  recommended: Record<string, unknown>,
): ProbeFinding {
  const { schedules, booking } = ehr.settings;
  const lacked = lackedForSchedules(ehr, mode, facts);
  if (lacked.length === 0) {
    const size = booking?.transaction_size;
    const limit = size === undefined ? '' : ` An end or an exception can remove up to ${size - 1} slots at once.`;
    const detail =
      schedules?.write === true
        ? `Schedules are read and written, with Slots for ${horizonDays(ehr)} days ahead.${limit}`
        : `Schedules are read. The server would also take new ones: schedules.write lets the gateway change them.`;
    return { name, status: schedules?.write === true ? 'ok' : 'note', detail };
  }
  const why = `the server lacks ${lacked.join(', ')}`;
  if (schedules?.write !== true) {
    return { name, status: 'note', detail: `Schedules are read. They cannot be written: ${why}.` };
  }
  recommended.schedules = { write: false };
  return { name, status: 'problem', detail: `schedules.write is set, but schedules cannot be written: ${why}.` };
}
