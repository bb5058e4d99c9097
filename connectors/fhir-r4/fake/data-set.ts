import { Temporal } from 'temporal-polyfill';
import type { FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';

/** Two care units of one EHR. All people in it are synthetic, and no authority issues their numbers. */
export const timeZone = 'Europe/Stockholm';
export const careUnits = [
  { id: 'north', timeZone, settings: { location: 'Location/north' } },
  { id: 'south', timeZone, settings: { location: 'Location/south' } },
] as const;

type Fhir = FhirResource & Readonly<Record<string, unknown>>;

const serviceSystem = 'https://ehr.example/service-types';
const consultation = { coding: [{ system: serviceSystem, code: 'consultation' }] };
const vaccination = { coding: [{ system: serviceSystem, code: 'vaccination' }] };

export const healthcareServices: NonNullable<FhirSettings['healthcare_services']> = [
  {
    id: 'consultation',
    name: 'Konsultation',
    duration_minutes: 30,
    service_types: [{ system: serviceSystem, code: 'consultation' }],
  },
  {
    id: 'vaccination',
    name: 'Vaccination',
    duration_minutes: 30,
    service_types: [{ system: serviceSystem, code: 'vaccination' }],
  },
];

const services: readonly Fhir[] = healthcareServices.map(({ id, name, service_types }) => ({
  resourceType: 'HealthcareService',
  id,
  active: true,
  name,
  type: [{ coding: service_types }],
}));

const personnummer = 'http://electronichealth.se/identifier/personnummer';
const hsaId = 'urn:oid:1.2.752.29.4.19';
/** Of `p-6`. The number of `p-2` has no century: staff have written both. */
const phoneAsWritten = '+46 (0)70-174 06 05 ankn. 2 (mamma)';
const names = [
  ['Tolvan', 'Tolvansson', 'male', '1912-12-12', '191212121212'],
  ['Ljus', 'Provberg', 'male', '1970-10-03', '7010632391'],
  ['Pigg', 'Testlund', 'female', '1984-02-17'],
  ['Glada', 'Exempelin', 'female', '1993-09-09'],
  ['Lugn', 'Mallström', 'male', '1961-04-25'],
  ['Solig', 'Utkastén', 'female', '2006-01-12'],
] as const;

/** When the slots of a day begin, in local time. */
const hours = [
  '08:00',
  '08:30',
  '09:00',
  '09:30',
  '10:00',
  '10:30',
  '11:00',
  '11:30',
  '13:00',
  '13:30',
  '14:00',
  '14:30',
];

export interface DataSetOptions {
  /** The number of days with slots, from today on. */
  readonly days?: number;
  /** More days with slots, such as `2030-03-15`. */
  readonly alsoOn?: readonly string[];
  /** Gives each Schedule one actor only and adds HealthcareServices. Medplum's scheduling requires both. */
  readonly oneActorEach?: boolean;
}

const made = new Map<string, readonly FhirResource[]>();

/** Made once for a day and options: tests start hundreds of servers, and thousands of slots take most of a start. */
function dataSet(options: DataSetOptions): readonly FhirResource[] {
  const key = JSON.stringify([Temporal.Now.plainDateISO(timeZone), options]);
  const resources = made.get(key) ?? makeDataSet(options);
  made.set(key, resources);
  return resources;
}

function makeDataSet({ days = 70, alsoOn = [], oneActorEach = false }: DataSetOptions): readonly FhirResource[] {
  const dates = [...datesFromToday(days), ...alsoOn.map((date) => Temporal.PlainDate.from(date))];
  const at = (place: string) => (oneActorEach ? [] : [`Location/${place}`]);
  return [
    ...names.map(([given, family, gender, birthDate, number], index) => ({
      resourceType: 'Patient',
      id: `p-${index + 1}`,
      active: true,
      ...(number ? { identifier: [{ system: personnummer, value: number }] } : {}),
      name: [{ use: 'official', given: [given], family }],
      gender,
      birthDate,
      telecom: [
        // The Swedish authority reserves this range for fiction.
        { system: 'phone', use: 'mobile', value: index === 5 ? phoneAsWritten : `+4670174060${index}` },
        { system: 'email', value: `p-${index + 1}@patients.example` },
      ],
      address: [
        { use: 'home', line: [`Provvägen ${index + 1}`], postalCode: '123 45', city: 'Provstad', country: 'SE' },
      ],
    })),
    ...['north', 'south'].map((id) => ({ resourceType: 'Location', id, status: 'active', name: `Mottagning ${id}` })),
    {
      resourceType: 'Location',
      id: 'room-1',
      status: 'active',
      name: 'Vaccinationsrum',
      partOf: { reference: 'Location/north' },
    },
    {
      resourceType: 'Device',
      id: 'scanner-1',
      status: 'active',
      deviceName: [{ name: 'Ultraljud', type: 'user-friendly-name' }],
      location: { reference: 'Location/north' },
    },
    practitioner('r-1', 'Läkare', 'Noggrann Fjäll', [
      { system: hsaId, value: 'SE0000000000-1001' },
      { system: personnummer, value: '196408233234' },
    ]),
    practitioner('r-2', 'Sjuksköterska', 'Varsam Dal'),
    practitioner('r-3', 'Läkare', 'Klarvaken Sund'),
    role('role-2', 'r-2', 'north'),
    ...(oneActorEach ? [role('role-1', 'r-1', 'north'), role('role-3', 'r-3', 'south'), ...services] : []),
    ...scheduleOf('r-1', ['Practitioner/r-1', ...at('north')], [consultation, vaccination], dates),
    ...scheduleOf('r-2', ['PractitionerRole/role-2'], [consultation], dates),
    ...scheduleOf('r-3', ['Practitioner/r-3', ...at('south')], [consultation], dates),
    ...scheduleOf('room-1', ['Location/room-1'], [vaccination], dates),
    ...scheduleOf('scanner-1', ['Device/scanner-1'], [consultation], datesFromToday(Math.min(days, 7))),
  ] satisfies readonly Fhir[];
}

function role(id: string, practitionerId: string, place: string): Fhir {
  return {
    resourceType: 'PractitionerRole',
    id,
    active: true,
    practitioner: { reference: `Practitioner/${practitionerId}` },
    location: [{ reference: `Location/${place}` }],
  };
}

function practitioner(id: string, title: string, name: string, identifier?: readonly object[]): Fhir {
  const [given, family] = name.split(' ');
  return {
    resourceType: 'Practitioner',
    id,
    active: true,
    ...(identifier ? { identifier } : {}),
    name: [{ use: 'official', text: `${title} ${name}`, given: [given], family }],
  };
}

function datesFromToday(days: number): Temporal.PlainDate[] {
  const today = Temporal.Now.plainDateISO(timeZone);
  return Array.from({ length: days }, (_, day) => today.add({ days: day }));
}

function scheduleOf(
  id: string,
  actors: readonly string[],
  serviceType: readonly object[],
  dates: readonly Temporal.PlainDate[],
): Fhir[] {
  const schedule = {
    resourceType: 'Schedule',
    id: `schedule-${id}`,
    active: true,
    serviceType,
    actor: actors.map((reference) => ({ reference })),
  };
  const slots = dates
    .filter(({ dayOfWeek }) => dayOfWeek <= 5)
    .flatMap((date) =>
      hours.map((time) => date.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) })),
    )
    .map((start) => ({
      resourceType: 'Slot',
      id: `slot-${id}-${start.epochMilliseconds / 60_000}`,
      schedule: { reference: `Schedule/schedule-${id}` },
      status: 'free',
      start: start.toString({ timeZoneName: 'never' }),
      end: start.add({ minutes: 30 }).toString({ timeZoneName: 'never' }),
    }));
  return [schedule, ...slots];
}

/** The initial data of a counterpart: options of the data set, or the resources to use instead of it. */
export type InitialData = DataSetOptions | readonly FhirResource[];

/** Passes each resource of the initial data to `save`. */
export async function loadDataSet(
  save: (resource: FhirResource) => Promise<unknown> | unknown,
  data: InitialData = {},
): Promise<void> {
  for (const resource of isList(data) ? data : dataSet(data)) await save(resource);
}

function isList(data: InitialData): data is readonly FhirResource[] {
  return Array.isArray(data);
}
