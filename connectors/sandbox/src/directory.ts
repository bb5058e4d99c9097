import type {
  CareUnit,
  HealthcareService,
  Patient,
  PatientIdentifier,
  PatientIdentifierType,
  Resource,
  ResourceIdentifier,
  ResourceIdentifierType,
} from '@crossward/connector-kit';
import { sandboxFaults } from './faults.ts';
import { norway } from './people/norway.ts';
import { sweden } from './people/sweden.ts';
import type { SyntheticPerson, SyntheticPopulation } from './people/synthetic-person.ts';
import { unitedKingdom } from './people/united-kingdom.ts';
import type { Country } from './settings.ts';

interface CountryFacts {
  readonly population: SyntheticPopulation;
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  readonly services: readonly HealthcareService[];
  readonly roomName: string;
  /** National identifiers of the first resource. */
  readonly firstResource: readonly ResourceIdentifier[];
}

/** FHIR's service types: https://terminology.hl7.org/CodeSystem-service-type.html */
const serviceTypes = 'http://terminology.hl7.org/CodeSystem/service-type';

function services(consultation: string, vaccination: string): HealthcareService[] {
  const typed = (code: string, display: string) => [{ system: serviceTypes, code, display }];
  return [
    { id: 'consultation', name: consultation, durationMinutes: 30, codes: typed('124', 'General Practice') },
    { id: 'vaccination', name: vaccination, durationMinutes: 30, codes: typed('57', 'Immunization') },
  ];
}

const countries: Record<Country, CountryFacts> = {
  NO: {
    population: norway,
    patientIdentifierTypes: ['emr_id', 'no_personal_number'],
    resourceIdentifierTypes: ['emr_id'],
    services: services('Konsultasjon', 'Vaksinasjon'),
    roomName: 'Vaksinerom',
    firstResource: [],
  },
  SE: {
    population: sweden,
    patientIdentifierTypes: ['emr_id', 'se_personal_number'],
    resourceIdentifierTypes: ['emr_id', 'hsa_id', 'se_personal_number'],
    services: services('Konsultation', 'Vaccination'),
    roomName: 'Vaccinationsrum',
    firstResource: [
      { type: 'hsa_id', value: 'SE0000000000-1001' },
      { type: 'se_personal_number', value: '196408233234' },
    ],
  },
  GB: {
    population: unitedKingdom,
    patientIdentifierTypes: ['emr_id', 'nhs_number'],
    resourceIdentifierTypes: ['emr_id'],
    services: services('Consultation', 'Vaccination'),
    roomName: 'Vaccination room',
    firstResource: [],
  },
};

const practitionersPerCareUnit = 4;
const resourcesPerCareUnit = practitionersPerCareUnit + 1;

/** The sandbox's patients, resources and services. Those that it begins with never change, and are kept in memory only. */
export interface Directory {
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  readonly services: readonly HealthcareService[];
  /** Without those on which the sandbox breaks. */
  readonly patients: readonly Patient[];
  /** With those who were created. `null`: there is none. */
  findPatient(identifier: PatientIdentifier): Promise<Patient | null>;
  findResource(careUnitId: string, identifier: ResourceIdentifier): Resource | undefined;
  /** Ordered by id. */
  resourcesOf(careUnitId: string): readonly Resource[];
}

/** @param findCreated finds a patient whom somebody has created. Default: nobody has. */
export function createDirectory(
  country: Country,
  careUnits: readonly CareUnit[],
  findCreated: Directory['findPatient'] = async () => null,
): Directory {
  const facts = countries[country];
  const { patients, patientsByIdentifier } = peopleOf(country);
  const resources = new Map(
    careUnits.map((careUnit, index) => [careUnit.id, resourcesOfCareUnit(facts, index)] as const),
  );
  return {
    patientIdentifierTypes: facts.patientIdentifierTypes,
    resourceIdentifierTypes: facts.resourceIdentifierTypes,
    services: facts.services,
    patients,
    findPatient: async (identifier) => patientsByIdentifier.get(key(identifier)) ?? findCreated(identifier),
    findResource: (careUnitId, identifier) =>
      resources.get(careUnitId)?.find((it) => it.identifiers.some((id) => key(id) === key(identifier))),
    resourcesOf: (careUnitId) => resources.get(careUnitId) ?? [],
  };
}

interface People {
  readonly patients: readonly Patient[];
  readonly patientsByIdentifier: ReadonlyMap<string, Patient>;
}

/** All sandboxes of a country have the same people. */
const people: Partial<Record<Country, People>> = {};

function peopleOf(country: Country): People {
  people[country] ??= newPeople(countries[country]);
  return people[country];
}

function newPeople({ population }: CountryFacts): People {
  const patients = population.patients.map((person, index) => patient(population, `p-${index + 1}`, index + 1, person));
  const onFaults = sandboxFaults.map(({ patientId, givenName }, index) =>
    patient(population, patientId, patients.length + index + 1, { ...faultyPerson, givenName }),
  );
  const everybody = [...patients, ...onFaults];
  return {
    patients,
    patientsByIdentifier: new Map(everybody.flatMap((it) => it.identifiers.map((id) => [key(id), it] as const))),
  };
}

function key(identifier: { readonly type: string; readonly value: string }): string {
  return `${identifier.type}:${identifier.value}`;
}

/** The same in each country. */
const faultyPerson = { familyName: 'Sandbox', gender: 'unknown', birthDate: '1980-01-01' } as const;

/** @param n the position among all patients */
function patient(population: SyntheticPopulation, id: string, n: number, person: SyntheticPerson): Patient {
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }, ...(person.nationalNumber ? [person.nationalNumber] : [])],
    givenName: person.givenName,
    familyName: person.familyName,
    birthDate: person.birthDate,
    gender: person.gender,
    // p-19 has only an e-mail address, p-20 has no contact details.
    phone: n === 19 || n === 20 ? null : population.phone(n),
    email: n === 20 ? null : `${id}@patients.example`,
    address: {
      lines: [`${population.street} ${n}`],
      postalCode: population.postalCode,
      city: population.city,
      country: population.country,
    },
  };
}

function resourcesOfCareUnit(facts: CountryFacts, careUnitIndex: number): readonly Resource[] {
  const first = careUnitIndex * resourcesPerCareUnit + 1;
  const names = facts.population.practitionerNames;
  const practitioners = Array.from({ length: practitionersPerCareUnit }, (_, index): Resource => {
    const id = `r-${first + index}`;
    const national = id === 'r-1' ? facts.firstResource : [];
    return {
      id,
      identifiers: [{ type: 'emr_id', value: id }, ...national],
      kind: 'practitioner',
      name: names[(careUnitIndex * practitionersPerCareUnit + index) % names.length] ?? id,
      healthcareServiceIds: ['consultation', 'vaccination'],
    };
  });
  const roomId = `r-${first + practitionersPerCareUnit}`;
  const room: Resource = {
    id: roomId,
    identifiers: [{ type: 'emr_id', value: roomId }],
    kind: 'room',
    name: facts.roomName,
    healthcareServiceIds: ['vaccination'],
  };
  return [...practitioners, room].sort((a, b) => (a.id < b.id ? -1 : 1));
}
