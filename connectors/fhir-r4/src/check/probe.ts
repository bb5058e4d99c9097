import type { ConnectorContext, ProbeFinding, ProbeReport } from '@crossward/connector-kit';
import { openBooking } from '../booking/choose-booking.ts';
import { readServerFacts, type ServerFacts } from '../server/capability-statement.ts';
import type { EhrClock } from '../server/clock.ts';
import { connect, type FhirConnection, signIn } from '../server/connection.ts';
import { settingsThatSignIn } from '../server/sign-in/sign-in-trial.ts';
import type { BookingMode, FhirSettings } from '../settings.ts';
import { attempt } from './attempt.ts';
import { probeBooking } from './booking-modes.ts';
import { probeCareUnits } from './care-units.ts';
import { probeDocuments } from './documents.ts';
import { probeAppointments, probeChanges, probeHabits, probePatientSearch } from './habits.ts';
import { probeMedicalNotes } from './medical-notes.ts';
import { probeNumbers } from './numbers.ts';
import { probeSchedules } from './schedules.ts';

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
  const ehr = await attempt(findings, 'care units', async () => connect(context, client, facts));
  if (ehr) await attempt(findings, 'numbers', () => probeNumbers(ehr, findings, recommended));
  if (ehr) await probeRecords(ehr, mode, facts, context.careUnits, findings, recommended);
  if (ehr) await probeCareUnits(ehr, openBooking(mode, ehr, facts), context, findings, recommended);
  if (ehr) await probePatientSearch(ehr, findings, recommended);
  if (ehr) await probeAppointments(ehr, context.careUnits, findings, recommended);
  if (ehr) await probeChanges(ehr, facts, context.careUnits, findings);
  if (ehr) probeHabits(ehr, findings, recommended);
  return { findings, recommendedSettings: recommended };
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
