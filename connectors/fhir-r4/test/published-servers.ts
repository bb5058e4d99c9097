import type { ConfiguredCareUnit, Connector } from '@crossward/connector-kit';
import { otherPath, type ServerHabits } from '../fake/habits.ts';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { openCounting, settingsFor } from './subject.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
const nineOClock = (days: number) =>
  new Date(Math.floor(Date.now() / dayMilliseconds + days) * dayMilliseconds + 9 * 60 * 60 * 1000);

type Fhir = FhirResource & Readonly<Record<string, unknown>>;

const visit = { id: 'visit', name: 'Visit' };
export const everybody: ConfiguredCareUnit = { id: 'north', timeZone: 'Europe/Stockholm', settings: {} };

/** When the appointment `ok` is. */
export const booked = nineOClock(21);
export const range = { start: nineOClock(1), end: nineOClock(60) };

/** Two people, a practitioner with two free times, and an appointment. */
export const people: readonly Fhir[] = [
  { resourceType: 'Patient', id: 'p1', active: true, name: [{ family: 'Vik', given: ['Nora'] }] },
  { resourceType: 'Patient', id: 'p2', active: true, name: [{ family: 'Berg', given: ['Ola'] }] },
  practitioner('d1', 'Lind'),
  { resourceType: 'Schedule', id: 's1', active: true, actor: [{ reference: 'Practitioner/d1' }] },
  slot('f1', 's1', nineOClock(20)),
  slot('f2', 's1', nineOClock(22)),
  appointment('ok', 'p1'),
];

export function practitioner(id: string, family: string): Fhir {
  return { resourceType: 'Practitioner', id, active: true, name: [{ family, given: ['Per'] }] };
}

export function slot(id: string, schedule: string, start: Date, more = {}): Fhir {
  return {
    resourceType: 'Slot',
    id,
    schedule: { reference: `Schedule/${schedule}` },
    status: 'free',
    start: start.toISOString(),
    end: new Date(start.getTime() + 30 * 60_000).toISOString(),
    ...more,
  };
}

export function appointment(id: string, patient: string, start = booked): Fhir {
  const accepted = (reference: string) => ({ actor: { reference }, status: 'accepted' });
  return {
    resourceType: 'Appointment',
    id,
    status: 'booked',
    start: start.toISOString(),
    end: new Date(start.getTime() + 30 * 60_000).toISOString(),
    participant: [accepted(`Patient/${patient}`), accepted('Practitioner/d1')],
  };
}

/** Starts a server with these habits, and opens a connector. Nothing is written to it, so it is not tried out. */
export async function openServer(
  habits: ServerHabits,
  settings: Partial<FhirSettings> = {},
  more: readonly Fhir[] = [],
  { unit = everybody, ...options }: FakeOptions & { readonly unit?: ConfiguredCareUnit } = {},
) {
  const data = [...people, ...more];
  const server = await startFake({ transactions: 'none', plainWrites: false, data, habits, ...options });
  const all = settingsFor(`${server.url}${otherPath}`, {
    patient_identifier_types: ['nhs_number'],
    healthcare_services: [visit],
    ...settings,
  });
  const { connector, leftOut } = await openCounting(all, [unit]);
  return { server, settings: all, connector, leftOut, ...asked(connector, unit) };
}

/** The ids of what the connector finds. */
function asked(connector: Connector, careUnit: ConfiguredCareUnit) {
  const ids = (found: readonly { readonly id: string }[] | undefined) => (found ?? []).map(({ id }) => id).sort();
  return {
    resources: async () => ids(await connector.listResources?.(careUnit)),
    ofPatient: async (patientId: string) => ids(await connector.listAppointments?.({ careUnit, patientId, limit: 10 })),
    ofResource: async (resourceId: string) =>
      ids(await connector.listAppointments?.({ careUnit, resourceId, range, limit: 10 })),
    ofEverybody: async () => ids(await connector.listAppointments?.({ careUnit, range, limit: 10 })),
    one: async (id: string) => ids(await connector.findAppointments?.(careUnit, [id])),
    times: async () =>
      (await connector.listTimeSlots?.({ careUnit, ...range, limit: 100 }))?.map(({ start }) => start.toISOString()),
  };
}
