import { type CareUnit, type ConnectorContext, ConnectorError, type ProbeFinding } from '@crossward/connector-kit';
import type { Booking } from '../booking/booking.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { onlyService, servicesOfTypes } from '../directory/service-types.ts';
import type { FhirSchedule, FhirSlot } from '../fhir.ts';
import { type BookableService, hasCoding } from '../mappers/healthcare-service.ts';
import type { FhirConnection } from '../server/connection.ts';
import type { FhirSettings } from '../settings.ts';
import { searchSlots } from '../slots/search.ts';
import { attempt } from './attempt.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
const hours = 12 * 60 * 60 * 1000;
/** More free times than this are not counted. */
const mostTimes = 10_000;

/**
 * Checks which resources each care unit has, and whether their slots are found. Warns of each resource without a
 * service, and recommends services for them, unless some services come from HealthcareServices, which the setting would
 * replace.
 */
export async function probeCareUnits(
  ehr: FhirConnection,
  booking: Booking,
  { careUnits }: Pick<ConnectorContext<FhirSettings>, 'careUnits'>,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const looks: (SeenCareUnit | 'empty' | 'failed')[] = [];
  for (const it of careUnits) looks.push(await probeCareUnit(ehr, booking, it, findings, recommended));
  const seen = looks.filter((it) => typeof it === 'object');
  const warnings = seen.flatMap((it) => unmappedResources(it).map((id) => unmapped(it.directory, id)));
  findings.push(...warnings);
  const areDerived = seen.some(({ directory }) => directory.derivesServices);
  if (areDerived) findings.push(derivedServices);
  const areNamed = ehr.settings.healthcare_services === undefined && !areDerived;
  const wouldReplace = areNamed && seen.some(({ directory }) => directory.services.length > 0);
  if ((warnings.length === 0 && !areDerived) || wouldReplace || looks.includes('failed')) return;
  const services = await attempt(findings, 'healthcare services', () => servicesInUse(ehr, seen));
  if (services) recommended.healthcare_services = services;
}

async function probeCareUnit(
  ehr: FhirConnection,
  booking: Booking,
  careUnit: CareUnit,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<SeenCareUnit | 'empty' | 'failed'> {
  const { id } = careUnit;
  const name = `care unit ${id}`;
  const directory = await attempt(findings, name, () => ehr.directory.of({ id }));
  if (!directory) return 'failed';
  const schedules = directory.schedulesOf(undefined);
  if (schedules.length === 0) {
    findings.push({ name, status: 'warning', detail: 'It has no schedule with a practitioner, location or device.' });
    return 'empty';
  }
  if (ehr.settings.patient_header) {
    const detail = `${directory.resources.length} resources. Free times are asked for a patient, and the check asks for nobody.`;
    findings.push({ name, status: 'untried', detail });
    return { directory, slots: [] };
  }
  if (!booking.computesTimes) return probeSlots(ehr, directory, schedules, findings, recommended);
  const range = { start: new Date(), end: new Date(Date.now() + weekMilliseconds), limit: mostTimes };
  const times = await attempt(findings, name, () => booking.listTimeSlots({ careUnit, ...range }));
  if (!times) return 'failed';
  findings.push({ name, status: 'ok', detail: detailOf(directory, times.length) });
  return { directory, slots: [] };
}

/** Finds the form of search that returns the slots of a care unit. */
async function probeSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<SeenCareUnit | 'failed'> {
  const name = `care unit ${directory.careUnitId}`;
  const range = { start: new Date(), before: new Date(Date.now() + weekMilliseconds), statuses: 'free' };
  const own: NonNullable<FhirSettings['slots']> = ehr.settings.slots ?? {};
  const withTypes = { ...own, require_service_type: true };
  const others = own.by_service
    ? [{ ...own, lower_bound: 'gt' as const }]
    : [withTypes, { ...withTypes, search_by: 'schedule.actor' as const }];
  const forms = [own, ...others].flatMap((slots) => [slots, { ...slots, longest_hours: own.longest_hours ?? 24 }]);
  let rejection: ConnectorError | undefined;
  for (const slots of forms) {
    try {
      const inForm = { ...ehr, settings: { ...ehr.settings, slots } };
      // A few hours show how the server wants to be asked, however long a time it takes.
      await searchSlots(inForm, directory, schedules, { ...range, before: new Date(range.start.getTime() + hours) });
      const found = await searchSlots(inForm, directory, schedules, range);
      const detail = detailOf(directory, found.length);
      const hasMoreParameters = slots.require_service_type !== own.require_service_type;
      if (rejection && found.length === 0 && hasMoreParameters) {
        // The added parameters may be the reason why nothing is found.
        const why = `A search with fewer parameters was rejected: ${rejection.message}.`;
        findings.push({ name, status: 'warning', detail: `${detail} ${why}` });
      } else {
        findings.push({ name, status: 'ok', detail });
        if (rejection) recommended.slots = slots;
      }
      return { directory, slots: found };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      rejection ??= error;
      if (error.kind !== 'rejected' && error.kind !== 'unsupported') break;
    }
  }
  const hint = own.by_service ? '' : ' If the server searches for those of a service, set slots.by_service.';
  findings.push({ name, status: 'problem', detail: `Slots cannot be searched for: ${rejection?.message}.${hint}` });
  return 'failed';
}

const derivedServices: ProbeFinding = {
  name: 'healthcare services',
  status: 'warning',
  detail:
    'The server has no HealthcareService, so those of Slots and Schedules are offered, with their codes as ids. Name them in healthcare_services: then they keep their ids.',
};

function detailOf({ resources }: CareUnitDirectory, slots: number): string {
  return `${resources.length} resources, ${slots} free slots in the next week.`;
}

/** A slot without a known service can be neither listed nor booked. */
function unmapped({ careUnitId }: CareUnitDirectory, id: string): ProbeFinding {
  const detail = `Resource ${id} cannot be booked: no healthcare service fits its schedules and slots.`;
  return { name: `care unit ${careUnitId}`, status: 'warning', detail };
}

type Services = NonNullable<FhirSettings['healthcare_services']>;
type Service = Services[number];

/** The resources of a care unit, and some of their free Slots. */
interface SeenCareUnit {
  readonly directory: CareUnitDirectory;
  readonly slots: readonly FhirSlot[];
}

/** The resources without services: no service matches their schedules, or none matches their free Slots. */
function unmappedResources({ directory, slots }: SeenCareUnit): readonly string[] {
  const offers = slots.map((slot) => directory.offerOf(slot));
  return directory.resources
    .filter(({ id, healthcareServiceIds }) => {
      const own = offers.filter((offer) => offer?.resourceId === id);
      const fits = own.length === 0 || own.some((offer) => offer && offer.services.length > 0);
      return healthcareServiceIds.length === 0 || !fits;
    })
    .map(({ id }) => id);
}

/**
 * The setting `healthcare_services`, with the configured services and the service types of these care units' schedules
 * and Slots that no service has. One service for everything if nothing has a type.
 */
async function servicesInUse({ client, settings }: FhirConnection, seen: readonly SeenCareUnit[]): Promise<Services> {
  const references = new Set(seen.flatMap(({ directory }) => directory.schedulesOf(undefined)));
  const schedules = await client.readMany<FhirSchedule>([...references]);
  const known = settings.healthcare_services ?? [];
  const concepts = [...schedules, ...seen.flatMap(({ slots }) => slots)]
    .flatMap(({ serviceType }) => serviceType ?? [])
    .filter((concept) => !known.some((service) => hasCoding(asBookable(service), [concept])));
  const services = [...known, ...servicesOfTypes(concepts, known)];
  return services.length > 0 ? services : [onlyService];
}

function asBookable({ id, name, service_types = [], reference }: Service): BookableService {
  return { id, name, durationMinutes: null, codings: service_types, reference };
}
