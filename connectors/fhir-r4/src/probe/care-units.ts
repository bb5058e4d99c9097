import { type CareUnit, type ConnectorContext, ConnectorError, type ProbeFinding } from '@crossward/connector-kit';
import type { Booking } from '../booking/booking.ts';
import type { FhirConnection } from '../connection.ts';
import type { CareUnitDirectory } from '../directory.ts';
import type { FhirSlot } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';
import { searchSlots } from '../time-slots/search.ts';
import { attempt } from './attempt.ts';
import { servicesInUse } from './services.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** More free times than this are not counted. */
const mostTimes = 10_000;

/** What was seen of a care unit that has, or may have, resources to book. */
interface SeenCareUnit {
  readonly services: 'some' | 'none' | 'unknown';
  readonly slots: readonly FhirSlot[];
}

const unseen: SeenCareUnit = { services: 'unknown', slots: [] };

/**
 * Checks who can be booked in each care unit, and whether their slots are found. Recommends services only if no care unit
 * has any: otherwise the recommended services would replace the existing ones.
 */
export async function probeCareUnits(
  ehr: FhirConnection,
  booking: Booking,
  { careUnits }: Pick<ConnectorContext<FhirSettings>, 'careUnits'>,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const seen: SeenCareUnit[] = [];
  for (const it of careUnits) seen.push(...(await probeCareUnit(ehr, booking, it, findings, recommended)));
  if (seen.length === 0 || seen.some(({ services }) => services !== 'none')) return;
  const slots = seen.flatMap((it) => it.slots);
  const services = await attempt(findings, 'healthcare services', () => servicesInUse(ehr.client, slots));
  if (services) recommended.healthcare_services = services;
}

async function probeCareUnit(
  ehr: FhirConnection,
  booking: Booking,
  careUnit: CareUnit,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<readonly SeenCareUnit[]> {
  const { id } = careUnit;
  const name = `care unit ${id}`;
  const directory = await attempt(findings, name, () => ehr.directory.of({ id }));
  if (!directory) return [unseen];
  const schedules = directory.schedulesOf(undefined);
  if (schedules.length === 0) {
    findings.push({ name, status: 'warning', detail: 'It has no schedule with a practitioner, location or device.' });
    return [];
  }
  if (booking.timesAreSlots) return probeSlots(ehr, directory, schedules, findings, recommended);
  const range = { start: new Date(), end: new Date(Date.now() + weekMilliseconds), limit: mostTimes };
  const times = await attempt(findings, name, () => booking.listTimeSlots({ careUnit, ...range }));
  if (!times) return [unseen];
  findings.push({ name, status: 'ok', detail: detailOf(directory, times.length) });
  return [{ services: servicesOf(directory, findings), slots: [] }];
}

/** Looks which form of search finds the slots of a care unit. */
async function probeSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<readonly SeenCareUnit[]> {
  const name = `care unit ${directory.careUnitId}`;
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
      const detail = detailOf(directory, found.length);
      if (refusal && found.length === 0) {
        // The added parameters may be the reason why nothing is found.
        const why = `A search with fewer parameters was refused: ${refusal.message}.`;
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

function detailOf({ resources }: CareUnitDirectory, slots: number): string {
  return `${resources.length} resources, ${slots} free slots in the next week.`;
}

/** A slot that fits no known service can be neither shown nor booked. */
function servicesOf({ careUnitId, resources }: CareUnitDirectory, findings: ProbeFinding[]): 'some' | 'none' {
  if (resources.some(({ healthcareServiceIds }) => healthcareServiceIds.length > 0)) return 'some';
  const detail = 'Nothing can be booked: no healthcare service fits its schedules.';
  findings.push({ name: `care unit ${careUnitId}`, status: 'warning', detail });
  return 'none';
}
