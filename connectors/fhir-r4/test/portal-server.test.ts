import type { Connector, TimeSlotQuery } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { portalServer, portalSettings, portalUnits } from './portal-server.ts';
import { openCounting, probeServer, settingsFor } from './subject.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;
const [north, south] = portalUnits;
/** The numbers of `p-1` and `p-2`, as the header has them. */
const [first, second] = ['191212121212', '197010632391'];

async function openPortal(settings: Partial<FhirSettings> = {}, options: FakeOptions = {}) {
  const server = await startFake({ data: { days: 14 }, ...portalServer, ...options });
  const all = settingsFor(server.url, { ...portalSettings, ...settings });
  return { server, settings: all, ...(await openCounting(all, portalUnits)) };
}

/** Of a week, for the first patient. */
async function freeTimes(connector: Connector, query: Partial<TimeSlotQuery> = {}) {
  const start = new Date(Math.ceil(Date.now() / day + 1) * day);
  const end = new Date(start.getTime() + 7 * day);
  const found = await connector.listTimeSlots?.({
    careUnit: north,
    patientId: 'p-1',
    start,
    end,
    limit: 500,
    ...query,
  });
  return found ?? [];
}

function saveAppointment({ store }: FakeServer, id: string, patient: string, practitioner = 'r-1') {
  const accepted = (reference: string) => ({ actor: { reference }, status: 'accepted' });
  store.save({
    resourceType: 'Appointment',
    id,
    status: 'booked',
    start: new Date(Date.now() + day).toISOString(),
    end: new Date(Date.now() + day + hour).toISOString(),
    participant: [accepted(`Patient/${patient}`), accepted(`Practitioner/${practitioner}`)],
  });
}

describe('a server that finds Slots by service and day, for a patient', () => {
  test('shows the free times of each resource and service, by their Schedules', async () => {
    const { server, connector, leftOut } = await openPortal();
    const found = await freeTimes(connector);
    const free = server.store
      .all('Slot')
      .filter(({ start }) => found.some((it) => +it.start === Date.parse(`${start}`)));
    const pairs = new Set(found.map((it) => `${it.resourceId} ${it.healthcareServiceId}`));
    expect([...pairs].sort()).toEqual([
      'location_room-1 vaccination',
      'r-1 consultation',
      'r-1 vaccination',
      'r-2 consultation',
    ]);
    const ofFirst = found.filter((it) => it.resourceId === 'r-1' && it.healthcareServiceId === 'consultation');
    expect(ofFirst).toHaveLength(free.filter(({ id }) => id?.startsWith('slot-r-1-')).length);
    const elsewhere = await freeTimes(connector, { careUnit: south });
    expect(new Set(elsewhere.map(({ resourceId }) => resourceId))).toEqual(new Set(['r-3']));
    expect(leftOut).toEqual([]);
  });

  test('is asked for a day at most, and for what begins at the first moment', async () => {
    const { server, connector } = await openPortal();
    const [slot] = await freeTimes(connector, { limit: 1 });
    const again = await freeTimes(connector, { start: slot?.start as Date, limit: 1 });
    expect(again).toEqual([slot]);
    const searches = server.seen.filter(({ path }) => path === '/Slot/_search');
    const bounds = searches.map(({ body }) => new URLSearchParams(body).getAll('start'));
    expect(bounds.every(([from, until]) => from?.startsWith('gt') && until?.startsWith('lt'))).toBe(true);
    const spans = bounds.map(([from = '', until = '']) => Date.parse(until.slice(2)) - Date.parse(from.slice(2)));
    expect(Math.max(...spans)).toBe(day);
  });

  test('counts a Slot whose Schedule it does not show', async () => {
    const habits = { ...portalServer.habits, refuses: ['Slot._include'] };
    const { connector, leftOut } = await openPortal({}, { habits });
    expect(await freeTimes(connector)).toEqual([]);
    expect(leftOut).toContainEqual({ type: 'Slot', id: expect.stringMatching(/^slot-/), path: '/schedule' });
  });

  test('needs the resources of each care unit', async () => {
    const { settings } = await openPortal();
    const units = [{ ...north, settings: { location: 'Location/north' } }];
    const { connector } = await openCounting(settings, units);
    await expect(connector.listResources?.(north)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('name its resources'),
    });
  });
});

describe('a header that names the patient', () => {
  test('is in the calls about free times and appointments, and in none about staff and places', async () => {
    const { server, connector } = await openPortal();
    saveAppointment(server, 'a1', 'p-1');
    saveAppointment(server, 'a2', 'p-2');
    await freeTimes(connector, { limit: 1 });
    await freeTimes(connector, { limit: 1, patientId: 'p-2' });
    await connector.listAppointments?.({ careUnit: north, patientId: 'p-1', limit: 10 });
    await connector.findAppointments?.(north, ['a1_p-1', 'a2_p-2']);
    const typed = server.seen.map(({ path, headers }) => ({ type: path.split('/')[1] ?? '', number: headers.patient }));
    const numbersIn = (...types: string[]) =>
      new Set(typed.filter(({ type }) => types.includes(type)).map(({ number }) => number));
    expect(numbersIn('Slot')).toEqual(new Set([first, second]));
    expect(numbersIn('Appointment')).toEqual(new Set([first, second]));
    expect(numbersIn('metadata', 'Practitioner', 'Location')).toEqual(new Set([undefined]));
  });

  test('makes the patient a part of each id, and each list one of a patient', async () => {
    const { server, connector } = await openPortal();
    saveAppointment(server, 'a1', 'p-1');
    saveAppointment(server, 'a2', 'p-1', 'r-3');
    saveAppointment(server, 'a3', 'p-2');
    const query = { careUnit: north, limit: 10 };
    expect(await connector.listAppointments?.({ ...query, patientId: 'p-1' })).toMatchObject([{ id: 'a1_p-1' }]);
    expect(await connector.listAppointments?.({ ...query, patientId: 'nobody' })).toEqual([]);
    await expect(connector.listAppointments?.(query)).rejects.toMatchObject({ kind: 'unsupported' });
    const found = await connector.findAppointments?.(north, [
      'a1_p-1',
      'a3_p-2',
      'a1_p-2',
      'a1_nobody',
      'a1',
      'a2_p-1',
    ]);
    expect(found?.map(({ id, patientId }) => [id, patientId])).toEqual([
      ['a1_p-1', 'p-1'],
      ['a3_p-2', 'p-2'],
    ]);
    expect(connector).not.toHaveProperty('listAppointmentChanges');
    expect(connector.capabilities).toMatchObject({ appointmentsByPatient: 'required', slotsByPatient: 'required' });
  });

  test('is not sent for a patient without such a number', async () => {
    const { server, connector } = await openPortal();
    const { seen } = server;
    await expect(freeTimes(connector, { patientId: 'p-3' })).rejects.toMatchObject({ kind: 'rejected' });
    await expect(freeTimes(connector, { patientId: 'nobody' })).rejects.toMatchObject({ kind: 'patient_not_found' });
    expect(seen.filter(({ path }) => path.startsWith('/Slot'))).toEqual([]);
  });

  test.each<[Partial<FhirSettings>, string]>([
    [{ booking: { mode: 'slot_claim', probe: false } }, 'patient_header'],
    [{ booking: { mode: 'operations' }, patient_header: undefined } as unknown as Partial<FhirSettings>, 'by_service'],
    [{ patient_header: { name: 'Authorization', identifier_type: 'se_personal_number' } }, 'cannot set authorization'],
  ])('is refused in settings that it does not suit: %j', async (settings, message) => {
    await expect(openPortal(settings)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(message),
    });
  });
});

describe('the check of such a server', () => {
  test('finds no problem, and asks for nobody', async () => {
    const { server, settings } = await openPortal();
    const { findings, recommendedSettings } = await probeServer(settings, portalUnits);
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ name: 'care unit north', status: 'untried' }));
    expect(recommendedSettings).not.toHaveProperty('slots');
    expect(server.seen.some(({ headers }) => headers.patient)).toBe(false);
  });

  test('proposes the bounds that it takes', async () => {
    const { rules } = portalServer;
    if (!rules) throw new Error('The server has rules');
    const { patientHeader: _, ...others } = rules;
    const { server } = await openPortal({}, { rules: others });
    const { by_service } = portalSettings.slots ?? {};
    const { patient_header: _header, ...settings } = settingsFor(server.url, {
      ...portalSettings,
      ...(by_service ? { slots: { by_service } } : {}),
    });
    const { recommendedSettings } = await probeServer(settings, portalUnits);
    expect(recommendedSettings).toMatchObject({ slots: { by_service, lower_bound: 'gt', longest_hours: 24 } });
  });
});
