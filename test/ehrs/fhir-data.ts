import type { CareUnit, Identifier, Patient, Period, Resource } from '@crossward/connector-kit';
import { slotsOf } from '@crossward/connector-kit/timetable';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { identifierSystems } from '../../connectors/fhir-r4/src/mappers/identifiers.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import { createDirectory } from '../../connectors/sandbox/src/directory.ts';
import { openingHoursOf } from '../../connectors/sandbox/src/opening-hours.ts';
import type { Country, SandboxSettings } from '../../connectors/sandbox/src/settings.ts';
import type { ConfiguredEmr } from '../../server/src/config/configuration.ts';

type Fhir = FhirResource & Readonly<Record<string, unknown>>;

const serviceSystem = 'https://ehr.example/service-types';
const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Tests search for free slots from forty days ahead. */
const days = 60;

/** The connector's default systems of identifiers. */
const defaultSystems = identifierSystems({ base_url: 'https://ehr.example/fhir' });

const made = new Map<string, readonly FhirResource[]>();

/** The data of a sandbox as FHIR resources: people, staff, services and free slots. Cached for equal settings. */
export function fhirResourcesOf({ settings, care_units }: ConfiguredEmr): readonly FhirResource[] {
  const { country } = settings as SandboxSettings;
  const careUnits = care_units.map(({ id, time_zone }) => ({ id, timeZone: time_zone }));
  const key = JSON.stringify([country, careUnits]);
  const resources = made.get(key) ?? makeResources(country, careUnits);
  made.set(key, resources);
  return resources;
}

function makeResources(country: Country, careUnits: readonly CareUnit[]): readonly FhirResource[] {
  const directory = createDirectory(country, careUnits);
  const now = Date.now();
  const window = { start: new Date(now - dayMilliseconds), end: new Date(now + days * dayMilliseconds) };
  const hours = Map.groupBy(openingHoursOf(careUnits, directory), ({ resourceId }) => resourceId);
  return [
    ...directory.patients.map(patient),
    ...careUnits.flatMap(({ id, timeZone }) => [
      { resourceType: 'Location', id, status: 'active', name: id },
      ...directory
        .resourcesOf(id)
        .flatMap((resource) => [
          resource.kind === 'room' ? room(resource, id) : practitioner(resource),
          schedule(resource, id),
          ...(hours.get(resource.id) ?? []).flatMap((part) =>
            slotsOf(part, timeZone, window).map((time) => slot(resource.id, time)),
          ),
        ]),
    ]),
  ];
}

/** Settings of a connection to a FHIR server with the data of this sandbox. */
export function fhirSettingsOf({ country }: SandboxSettings, baseUrl: string): FhirSettings {
  const { services, patientIdentifierTypes, resourceIdentifierTypes } = createDirectory(country, []);
  const numbers = (types: readonly string[]) => types.filter((type) => type !== 'emr_id');
  return {
    base_url: baseUrl,
    patient_identifier_types: numbers(patientIdentifierTypes),
    resource_identifier_types: numbers(resourceIdentifierTypes),
    healthcare_services: services.map(({ id, name, durationMinutes }) => ({
      id,
      name,
      ...(durationMinutes === null ? {} : { duration_minutes: durationMinutes }),
      service_types: [{ system: serviceSystem, code: id }],
    })),
    schedules: { write: true },
  };
}

/** A free slot of a resource. `serviceIds` override the services of the schedule. */
export function slot(resourceId: string, { start, end }: Period, serviceIds: readonly string[] = []): Fhir {
  return {
    resourceType: 'Slot',
    id: `slot-${resourceId}-${start.getTime() / 60_000}-${(end.getTime() - start.getTime()) / 60_000}`,
    schedule: { reference: `Schedule/schedule-${resourceId}` },
    status: 'free',
    start: start.toISOString(),
    end: end.toISOString(),
    ...(serviceIds.length > 0 ? { serviceType: serviceIds.map(serviceType) } : {}),
  };
}

const serviceType = (code: string) => ({ coding: [{ system: serviceSystem, code }] });

function patient({ id, givenName, familyName, gender, birthDate, identifiers, ...contact }: Patient): Fhir {
  const { phone, email, address } = contact;
  return {
    resourceType: 'Patient',
    id,
    active: true,
    identifier: numbersIn(identifiers),
    name: [{ use: 'official', given: [givenName], family: familyName }],
    gender,
    birthDate,
    telecom: [
      ...(phone === null ? [] : [{ system: 'phone', use: 'mobile', value: phone }]),
      ...(email === null ? [] : [{ system: 'email', value: email }]),
    ],
    address: address === null ? [] : [{ use: 'home', ...address, line: address.lines, lines: undefined }],
  };
}

function practitioner({ id, name, identifiers }: Resource): Fhir {
  return {
    resourceType: 'Practitioner',
    id,
    active: true,
    identifier: numbersIn(identifiers),
    name: [{ use: 'official', text: name }],
  };
}

function room({ id, name }: Resource, careUnitId: string): Fhir {
  const partOf = { reference: `Location/${careUnitId}` };
  return { resourceType: 'Location', id, status: 'active', name, partOf };
}

function schedule({ id, kind, healthcareServiceIds }: Resource, careUnitId: string): Fhir {
  const actors = kind === 'room' ? [`Location/${id}`] : [`Practitioner/${id}`, `Location/${careUnitId}`];
  return {
    resourceType: 'Schedule',
    id: `schedule-${id}`,
    active: true,
    serviceType: healthcareServiceIds.map(serviceType),
    actor: actors.map((reference) => ({ reference })),
  };
}

function numbersIn(identifiers: readonly Identifier<string>[]): object[] {
  return identifiers.flatMap(({ type, value }) =>
    type === 'emr_id' ? [] : [{ system: defaultSystems(type)[0], value }],
  );
}
