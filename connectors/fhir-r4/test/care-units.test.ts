import { randomUUID } from 'node:crypto';
import type { CareUnit, Connector } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FhirAppointment, FhirResource } from '../src/fhir.ts';
import { actorsOf } from '../src/mappers/appointment.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor, south } from './subject.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
const tomorrow = new Date(Math.ceil(Date.now() / dayMilliseconds) * dayMilliseconds + dayMilliseconds);
const reference = (text: string) => ({ reference: text });
type Fhir = FhirResource & Readonly<Record<string, unknown>>;

const practitioner: Fhir = { resourceType: 'Practitioner', id: 'r-9', active: true, name: [{ text: 'Dubbel Rot' }] };

function role(id: string, place: string, more: object = {}): Fhir {
  const location = [reference(`Location/${place}`)];
  return { resourceType: 'PractitionerRole', id, practitioner: reference('Practitioner/r-9'), location, ...more };
}

/** A schedule with one slot, at this hour of tomorrow. */
function schedule(id: string, actors: readonly string[], hour: number, more: object = {}): Fhir[] {
  const start = new Date(tomorrow.getTime() + hour * 60 * 60 * 1000);
  const end = new Date(start.getTime() + 30 * 60_000);
  return [
    { resourceType: 'Schedule', id, actor: actors.map(reference), ...more } as Fhir,
    {
      resourceType: 'Slot',
      id: `slot-${id}`,
      schedule: reference(`Schedule/${id}`),
      status: 'free',
      start: start.toISOString(),
      end: end.toISOString(),
    },
  ];
}

async function open(resources: readonly FhirResource[]) {
  const server = await startFake({ data: { days: 1 } });
  for (const resource of resources) server.store.save(resource);
  return { server, connector: await openConnector(settingsFor(server.url)) };
}

async function timesOf(connector: Connector, careUnit: CareUnit, resourceId = 'r-9'): Promise<string[]> {
  const end = new Date(tomorrow.getTime() + dayMilliseconds);
  const query = { careUnit, start: tomorrow, end, resourceIds: [resourceId], limit: 100 };
  const found = (await connector.listTimeSlots?.(query)) ?? [];
  const ofService = found.filter(({ healthcareServiceId }) => healthcareServiceId === 'consultation');
  return ofService.map(({ start }) => start.toISOString().slice(11, 13));
}

async function book(connector: Connector, careUnit: CareUnit, hour: number) {
  const start = new Date(tomorrow.getTime() + hour * 60 * 60 * 1000);
  const end = new Date(start.getTime() + 30 * 60_000);
  const where = { resourceId: 'r-9', healthcareServiceId: 'consultation', start, end };
  const change = { kind: 'create', patientId: 'p-1', comment: null, holdUntil: null, ...where } as const;
  return connector.changeAppointments?.({ operationId: randomUUID(), careUnit, changes: [change] });
}

const inTwoUnits = [practitioner, role('role-n', 'north'), role('role-s', 'south')];

describe('a practitioner who works in two care units', () => {
  test('has the free slots of the role in each', async () => {
    const { server, connector } = await open([
      ...inTwoUnits,
      ...schedule('n', ['PractitionerRole/role-n'], 8),
      ...schedule('s', ['PractitionerRole/role-s'], 9),
    ]);
    expect(await timesOf(connector, north)).toEqual(['08']);
    expect(await timesOf(connector, south)).toEqual(['09']);
    await expect(book(connector, north, 9)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    const [booked] = (await book(connector, south, 9)) ?? [];
    const stored = server.store.get(`Appointment/${booked?.id}`) as FhirAppointment;
    expect(actorsOf(stored)).toContain('Location/south');
    expect(await connector.findAppointments?.(north, [booked?.id ?? ''])).toEqual([]);
  });

  test('is booked at the location of the schedule, even if the schedule also names a role elsewhere', async () => {
    const { connector } = await open([
      practitioner,
      role('role-both', 'north', { location: [reference('Location/north'), reference('Location/south')] }),
      ...schedule('n', ['PractitionerRole/role-both', 'Location/north'], 8),
      ...schedule('s', ['PractitionerRole/role-both', 'Location/south'], 9),
    ]);
    expect(await timesOf(connector, north)).toEqual(['08']);
    expect(await timesOf(connector, south)).toEqual(['09']);
  });

  test('has an appointment that names one role in the care unit of that role only', async () => {
    const { server, connector } = await open([
      ...inTwoUnits,
      ...schedule('n', ['PractitionerRole/role-n'], 8),
      ...schedule('s', ['PractitionerRole/role-s', 'Practitioner/r-9'], 9),
    ]);
    const start = new Date(tomorrow.getTime() + 9 * 60 * 60 * 1000).toISOString();
    const participant = ['Patient/p-1', 'PractitionerRole/role-s'].map((it) => ({ actor: reference(it) }));
    const made = { resourceType: 'Appointment', id: 'desk', status: 'booked', start, minutesDuration: 30, participant };
    server.store.save(made as FhirResource);
    expect(await connector.findAppointments?.(north, ['desk'])).toEqual([]);
    expect(await connector.findAppointments?.(south, ['desk'])).toMatchObject([{ resourceId: 'r-9' }]);
  });
});

describe('an appointment of a practitioner whose schedule moves to another care unit', () => {
  const at = (place: string) => schedule('moving', ['Practitioner/r-9', `Location/${place}`], 8);

  async function moved() {
    const { server, connector } = await open([practitioner, ...at('north')]);
    const [booked] = (await book(connector, north, 8)) ?? [];
    server.store.save(at('south')[0] as FhirResource);
    return { server, id: booked?.id ?? '', later: await openConnector(settingsFor(server.url)) };
  }
  const cancel = (id: string) => [{ kind: 'cancel', appointmentId: id }] as const;

  test('is found and listed where it was booked, and nowhere else', async () => {
    const { id, later } = await moved();
    expect(await later.findAppointments?.(north, [id])).toMatchObject([{ id, resourceId: 'r-9' }]);
    expect(await later.findAppointments?.(south, [id])).toEqual([]);
    for (const filter of [{}, { patientId: 'p-1' }, { resourceId: 'r-9' }]) {
      const list = { limit: 10, ...filter };
      expect(await later.listAppointments?.({ careUnit: north, ...list })).toMatchObject([{ id }]);
      expect(await later.listAppointments?.({ careUnit: south, ...list })).toEqual([]);
    }
  });

  test('can be cancelled where it was booked', async () => {
    const { server, id, later } = await moved();
    const write = { operationId: randomUUID(), changes: cancel(id) };
    const there = later.changeAppointments?.({ ...write, careUnit: south });
    await expect(there).rejects.toMatchObject({ kind: 'appointment_not_found' });
    expect(await later.changeAppointments?.({ ...write, careUnit: north })).toMatchObject([{ id, state: 'cancelled' }]);
    expect(server.store.get('Slot/slot-moving')).toMatchObject({ status: 'free' });
  });

  test('can be moved to another resource there, and then names that one', async () => {
    const { server, id } = await moved();
    for (const resource of [
      { resourceType: 'Practitioner', id: 'r-8', active: true, name: [{ text: 'Annan Läkare' }] },
      ...schedule('other', ['Practitioner/r-8', 'Location/north'], 9),
    ]) {
      server.store.save(resource as FhirResource);
    }
    const again = await openConnector(settingsFor(server.url));
    const start = new Date(tomorrow.getTime() + 9 * 60 * 60 * 1000);
    const time = { start, end: new Date(start.getTime() + 30 * 60_000) };
    const update = { kind: 'update', appointmentId: id, resourceId: 'r-8', time } as const;
    const write = { operationId: randomUUID(), careUnit: north, changes: [update] };
    expect(await again.changeAppointments?.(write)).toMatchObject([{ id, resourceId: 'r-8' }]);
    const actors = actorsOf(server.store.get(`Appointment/${id}`) as FhirAppointment);
    expect(actors).toContain('Practitioner/r-8');
    expect(actors).not.toContain('Practitioner/r-9');
  });

  test('is not shown in a care unit of other resources at the same location', async () => {
    const { server, id } = await moved();
    const unit = { id: 'few', timeZone: north.timeZone, settings: { location: 'Location/north', resources: ['r-1'] } };
    const connector = await openConnector(settingsFor(server.url), undefined, [unit]);
    expect(await connector.findAppointments?.(unit, [id])).toEqual([]);
    const other = { ...unit, settings: { ...unit.settings, resources: ['r-1', 'r-9'] } };
    const both = await openConnector(settingsFor(server.url), undefined, [other]);
    expect(await both.findAppointments?.(other, [id])).toMatchObject([{ id, resourceId: 'r-9' }]);
    expect(await both.listAppointments?.({ careUnit: other, limit: 10 })).toMatchObject([{ id }]);
  });
});

test('an appointment belongs to the care unit whose organization provides its service', async () => {
  const units = ['a', 'b'].map((id) => ({
    id,
    timeZone: north.timeZone,
    settings: { organization: `Organization/${id}` },
  }));
  const [first, second] = units as unknown as [CareUnit, CareUnit];
  const roleIn = (unit: string) => ({
    ...role(`role-${unit}`, 'x', { organization: reference(`Organization/${unit}`) }),
    location: [],
  });
  const service = {
    resourceType: 'HealthcareService',
    id: 'visit',
    active: true,
    name: 'Visit',
    providedBy: reference('Organization/a'),
  };
  const { server } = await open([
    practitioner,
    roleIn('a') as Fhir,
    service as Fhir,
    ...schedule('moving', ['Practitioner/r-9'], 8),
  ]);
  const { healthcare_services: configured = [], ...settings } = settingsFor(server.url);
  const named = configured.map((it) => ({ ...it, reference: 'HealthcareService/visit' })).slice(0, 1);
  for (const healthcare_services of [undefined, named]) {
    server.store.save(roleIn('a') as Fhir);
    const open = () =>
      openConnector({ ...settings, ...(healthcare_services ? { healthcare_services } : {}) }, undefined, units);
    const participant = ['Patient/p-1', 'Practitioner/r-9', 'HealthcareService/visit'].map((it) => ({
      actor: reference(it),
    }));
    const start = new Date(tomorrow.getTime() + 9 * 60 * 60 * 1000).toISOString();
    const made = { resourceType: 'Appointment', id: 'one', status: 'booked', start, minutesDuration: 30, participant };
    server.store.save(made as FhirResource);
    const before = await open();
    expect(await before.findAppointments?.(first, ['one'])).toMatchObject([{ resourceId: 'r-9' }]);
    // The practitioner leaves for the other organization.
    const { id: _, ...gone } = roleIn('b');
    server.store.save({ ...gone, id: 'role-a' } as Fhir);
    const later = await open();
    expect(await later.findAppointments?.(first, ['one'])).toMatchObject([{ resourceId: 'r-9' }]);
    expect(await later.findAppointments?.(second, ['one'])).toEqual([]);
    expect(await later.listAppointments?.({ careUnit: first, limit: 10 })).toMatchObject([{ id: 'one' }]);
  }
});

test('a room of the care unit is a location of the care unit too', async () => {
  const { connector } = await open([practitioner, ...schedule('n', ['Practitioner/r-9', 'Location/room-1'], 8)]);
  // Only the room says where the practitioner works.
  expect(await timesOf(connector, north)).toEqual(['08']);
  expect(await timesOf(connector, south)).toEqual([]);
});

describe('a resource that is out of use', () => {
  const active = [practitioner, role('role-n', 'north'), ...schedule('n', ['PractitionerRole/role-n'], 8)];

  test.each<[string, readonly FhirResource[]]>([
    ['a practitioner', [{ ...practitioner, active: false } as Fhir]],
    ['a role', [role('role-n', 'north', { active: false })]],
    ['a role whose period has ended', [role('role-n', 'north', { period: { end: '2020-01-01' } })]],
    ['a schedule', schedule('n', ['PractitionerRole/role-n'], 8, { active: false })],
    ['the location', [{ resourceType: 'Location', id: 'north', status: 'suspended' } as Fhir]],
  ])('%s has no free slots and cannot be booked, but its appointments are listed', async (name, gone) => {
    const data =
      name === 'the location'
        ? [...active, ...schedule('n', ['PractitionerRole/role-n', 'Location/north'], 8)]
        : active;
    const { server, connector } = await open(data);
    const [booked] = (await book(connector, north, 8)) ?? [];
    for (const resource of gone) server.store.save(resource);
    const later = await openConnector(settingsFor(server.url));
    expect((await later.listResources?.(north))?.map(({ id }) => id)).not.toContain('r-9');
    expect(await later.findResource?.(north, { type: 'emr_id', value: 'r-9' })).toBeNull();
    expect(await timesOf(later, north)).toEqual([]);
    await expect(book(later, north, 8)).rejects.toMatchObject({ kind: 'resource_not_found' });
    const id = booked?.id ?? '';
    expect(await later.findAppointments?.(north, [id])).toMatchObject([{ id, state: 'booked' }]);
    const cancel = { kind: 'cancel', appointmentId: id } as const;
    const write = { operationId: randomUUID(), careUnit: north, changes: [cancel] };
    expect(await later.changeAppointments?.(write)).toMatchObject([{ id, state: 'cancelled' }]);
  });
});
