import type { CareUnit, ProbeFinding } from '@crossward/connector-kit';
import { listAppointments } from '../appointments/reads.ts';
import { searchAppointments } from '../appointments/searches.ts';
import type { FhirPatient } from '../fhir.ts';
import { deletionSource, type ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRefusedQuestion } from '../server/outcome.ts';
import { listAppointmentChanges } from '../staff-changes/appointment-changes.ts';
import { attempt } from './attempt.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** Lists appointments, of a care unit and of a patient, so that the server shows how it wants to be asked. */
export async function probeAppointments(
  ehr: FhirConnection,
  [careUnit]: readonly CareUnit[],
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  if (!careUnit) return;
  const now = ehr.client.clock.now().getTime();
  const range = { start: new Date(now - weekMilliseconds), end: new Date(now + 4 * weekMilliseconds) };
  const name = 'appointments';
  const found = await attempt(findings, name, () => listAppointments(ehr, { careUnit, range, limit: 100 }));
  await attempt(findings, name, () => probePatientNumbers(ehr, findings, recommended));
  const patientId = found?.[0]?.patientId;
  if (!found || patientId === undefined) return;
  const own = await attempt(findings, name, () => listAppointments(ehr, { careUnit, patientId, limit: 1 }));
  if (own) findings.push({ name, status: 'ok', detail: 'They are found by care unit and by patient.' });
}

/** Appointments that name their patient by a number: whether the server finds them by it. One that ignores the parameter finds others. */
async function probePatientNumbers(
  ehr: FhirConnection,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const { client, settings, systems } = ehr;
  if (!client.habits.hasPatientNumbers || settings.patient_identifier_search !== undefined) return;
  const type = ehr.patientIdentifierTypes.find((it) => it !== 'emr_id');
  const tokens = [`${type === undefined ? '' : systems(type)[0]}|${nobody}`];
  const findsNobody = async (of: 'patient' | 'actor') => {
    try {
      const found = await searchAppointments(client.habits, { numbers: { of, tokens }, others: [] }, (parameters) =>
        client.search('Appointment', parameters, { few: true }),
      );
      return found.flat().length === 0;
    } catch (error) {
      if (isRefusedQuestion(error)) return false;
      throw error;
    }
  };
  const known = (await findsNobody('patient')) ? 'patient' : (await findsNobody('actor')) ? 'actor' : undefined;
  if (known !== undefined) recommended.patient_identifier_search = known;
  findings.push({
    name: 'patients by number',
    status: 'warning',
    detail: `Some appointments name their patient by a number and no reference. ${
      known === undefined
        ? 'The server does not find them by it, so they are shown, and not in the list of the patient.'
        : `With patient_identifier_search: ${known}, they are in the list of the patient.`
    }`,
  });
}

/** Whether changes by staff are found. The gateway asks only with `connection.changes_seconds`, which is no setting of the connector. */
export async function probeChanges(
  ehr: FhirConnection,
  facts: ServerFacts,
  careUnits: readonly CareUnit[],
  findings: ProbeFinding[],
): Promise<void> {
  const name = 'changes';
  const ask = async () => {
    const source = deletionSource(facts);
    const { next } = await listAppointmentChanges(ehr, source, { careUnits, limit: 1 });
    await listAppointmentChanges(ehr, source, { careUnits, limit: 1, after: next });
    return true;
  };
  const isRefused = (error: unknown) => {
    if (isRefusedQuestion(error)) return false;
    throw error;
  };
  const isFound = await attempt(findings, name, () => ask().catch(isRefused));
  if (isFound !== false) return;
  const detail =
    'Appointments cannot be searched for by _lastUpdated: what staff change in the EHR gives no event. Set changes_seconds: 0.';
  findings.push({ name, status: 'warning', detail });
}

/** No number of a person: the check asks for nobody. */
const nobody = 'crossward-check';

/** Checks whether people can be looked up by number, and whether the number may be in the body of the request. */
export async function probePatientSearch(
  ehr: FhirConnection,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const type = ehr.patientIdentifierTypes.find((it) => it !== 'emr_id');
  if (type === undefined) return;
  const name = 'search for people';
  const search = (post: boolean) =>
    ehr.client.search<FhirPatient>('Patient', [['identifier', `${ehr.systems(type)[0]}|${nobody}`]], {
      post,
      few: true,
    });
  const wantsPost = ehr.settings.patient_search !== 'get';
  const isFound = async (post: boolean) => {
    try {
      await search(post);
      return true;
    } catch (error) {
      if (isRefusedQuestion(error)) return false;
      throw error;
    }
  };
  const result = await attempt(findings, name, async () => {
    if (await isFound(wantsPost)) return 'as configured';
    return (await isFound(!wantsPost)) ? 'otherwise' : 'not at all';
  });
  if (result === undefined || result === 'as configured') return;
  if (result === 'not at all') {
    findings.push({ name, status: 'problem', detail: 'The server does not search for people by number.' });
    return;
  }
  recommended.patient_search = wantsPost ? 'get' : 'post';
  const detail = wantsPost
    ? 'The server takes no search by POST. With patient_search: get, numbers are in URLs: keep them out of every log.'
    : 'The server takes a search by POST, which keeps numbers out of URLs.';
  findings.push({ name, status: 'problem', detail });
}

/** What the server has shown of itself during the check, and the setting for it, where there is one. */
export function probeHabits(ehr: FhirConnection, findings: ProbeFinding[], recommended: Record<string, unknown>): void {
  const { client, settings } = ehr;
  const notes = [...client.habits.notes].map(([what, habit]) => `${what}: ${habit}`);
  if (notes.length > 0) {
    const detail = `Found without a setting. ${notes.join('; ')}.`;
    findings.push({ name: 'habits', status: 'note', detail });
  }
  probeLocalTimes(ehr, findings, recommended);
  const bases = [...client.habits.otherBases];
  const known = settings.own_base_urls ?? [];
  const unknown = bases.filter((base) => !known.some((it) => it.replace(/\/+$/, '') === base));
  if (unknown.length === 0) return;
  recommended.own_base_urls = [...known, ...unknown];
  findings.push({
    name: 'base URLs',
    status: 'warning',
    detail: `The server names itself by other base URLs: ${unknown.join(', ')}. If it is the same server, add them to own_base_urls: references to them are then its own.`,
  });
}

/** Profiles of Appointments, of which a server may want one in each body. */
export function probeProfiles({ settings }: FhirConnection, facts: ServerFacts, findings: ProbeFinding[]): void {
  const profiles = facts.profiles('Appointment');
  const { bodies = {} } = settings.booking ?? {};
  const named = Object.values(bodies).flatMap((body) => body?.profile ?? []);
  const others = profiles.filter((it) => !named.includes(it));
  if (others.length === 0) return;
  const detail = `The CapabilityStatement names profiles of Appointment: ${others.join(', ')}. If the server wants one in the body of a change, booking.bodies can name it.`;
  findings.push({ name: 'profiles', status: 'note', detail });
}

function probeLocalTimes(
  { client, settings, careUnits }: FhirConnection,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): void {
  if (!client.habits.hasLocalTimes || settings.local_time_zone !== undefined) return;
  const [zone, ...others] = new Set(careUnits.map(({ timeZone }) => timeZone));
  if (zone !== undefined && others.length === 0) recommended.local_time_zone = zone;
  findings.push({
    name: 'times',
    status: 'problem',
    detail:
      'The server sends times without an offset, and records with them are left out. If it means the time of the care unit, set local_time_zone.',
  });
}
