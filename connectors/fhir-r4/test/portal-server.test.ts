import type { AppointmentChange, Connector, TimeSlotQuery } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { OwnRules } from '../fake/own-rules.ts';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, write } from './bookings.ts';
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

  test('that the server refuses for one patient hides nothing from the others', async () => {
    const { server, connector } = await openPortal();
    server.misbehave = ({ path, headers }) =>
      path.startsWith('/Slot') && headers.patient === second ? { status: 422 } : undefined;
    await expect(freeTimes(connector, { patientId: 'p-2' })).rejects.toMatchObject({ kind: 'rejected' });
    expect((await freeTimes(connector)).length).toBeGreaterThan(0);
  });

  test('is not sent for a patient without such a number', async () => {
    const { server, connector } = await openPortal();
    const { seen } = server;
    await expect(freeTimes(connector, { patientId: 'p-3' })).rejects.toMatchObject({ kind: 'rejected' });
    await expect(freeTimes(connector, { patientId: 'nobody' })).rejects.toMatchObject({ kind: 'patient_not_found' });
    expect(seen.filter(({ path }) => path.startsWith('/Slot'))).toEqual([]);
  });

  const plain = { patient_header: undefined, slots: undefined };
  test.each<[object, string]>([
    [{ booking: { mode: 'slot_claim', probe: false } }, 'patient_header'],
    [{ ...plain, slots: portalSettings.slots, booking: { mode: 'operations' } }, 'by_service'],
    [{ ...plain, booking: { mode: 'operations', bodies: { cancel: { elements: ['status'] } } } }, 'booking.bodies'],
    [{ patient_header: { name: 'Authorization', identifier_type: 'se_personal_number' } }, 'cannot set authorization'],
  ])('is refused in settings that it does not suit: %j', async (settings, message) => {
    await expect(openPortal(settings as Partial<FhirSettings>)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(message),
    });
  });
});

describe('a body of its own for each change', () => {
  const { changes } = portalServer.rules as OwnRules;

  /** An appointment, and another free time for it. */
  async function openBooked(settings: Partial<FhirSettings> = {}, rules: Partial<OwnRules> = {}) {
    const opened = await openPortal(settings, { rules: { ...(portalServer.rules as OwnRules), ...rules } });
    const { server, connector } = opened;
    const [from, to] = await freeTimes(connector, { resourceIds: ['r-1'], healthcareServiceIds: ['consultation'] });
    if (!from || !to) throw new Error('There are no free times');
    const [made] = await write(connector, [creation(from)]);
    if (!made) throw new Error('Nothing was booked');
    server.seen.length = 0;
    const move = (): AppointmentChange => ({ kind: 'update', appointmentId: made.id, time: to });
    const read = async () => (await connector.findAppointments?.(north, [made.id]))?.[0];
    const sent = () => server.seen.filter(({ method }) => method === 'PUT').map(({ body }) => JSON.parse(body));
    return { ...opened, made, from, to, move, read, sent };
  }

  test('has the profile, the status, the comment and the elements of the settings', async () => {
    const { server, connector, made, to, move, sent } = await openBooked();
    const slot = server.store.all('Slot').find(({ id }) => id === `slot-r-1-${to.start.getTime() / 60_000}`);
    const message = (valueString: string) => [{ url: changes.message, valueString }];
    const common = { resourceType: 'Appointment', id: made.id.replace(/_.*/, '') };
    expect(await write(connector, [move()])).toMatchObject([
      { id: made.id, state: 'booked', ...to, comment: 'as written' },
    ]);
    await write(connector, [{ kind: 'cancel', appointmentId: made.id, comment: 'ill' }]);
    expect(sent()).toEqual([
      {
        ...common,
        status: 'proposed',
        slot: [{ reference: `Slot/${slot?.id}` }],
        extension: message('as written'),
        meta: { profile: [changes.profiles.update] },
      },
      { ...common, status: 'cancelled', extension: message('ill'), meta: { profile: [changes.profiles.cancel] } },
    ]);
    const writes = server.seen.filter(({ method }) => method === 'PUT');
    expect(writes.map(({ headers }) => [headers.patient, headers['if-match']])).toEqual([
      [first, 'W/"1"'],
      [first, 'W/"2"'],
    ]);
  });

  test('is enough for a server that shows no versions', async () => {
    const { server, connector, made, move } = await openBooked({}, { hidesVersions: true });
    await write(connector, [move()]);
    expect(await write(connector, [{ kind: 'cancel', appointmentId: made.id }])).toMatchObject([
      { state: 'cancelled' },
    ]);
    expect(server.seen.some(({ headers }) => headers['if-match'])).toBe(false);
  });

  test('does not revive what staff cancel in between, where there are no versions', async () => {
    const { server, connector, made, move, read } = await openBooked({}, { hidesVersions: true });
    server.misbehave = ({ method, path }) => {
      if (method === 'PUT') server.store.save({ ...server.store.get(path.slice(1)), status: 'cancelled' });
      return undefined;
    };
    await expect(write(connector, [move()])).rejects.toMatchObject({ kind: 'appointment_cancelled' });
    expect(await read()).toMatchObject({ start: made.start, state: 'cancelled' });
  });

  test('keeps what staff write while free times are searched, where there are no versions', async () => {
    const { server, connector, made, to, move, read, sent } = await openBooked({}, { hidesVersions: true });
    const path = `Appointment/${made.id.replace(/_.*/, '')}`;
    let hasWritten = false;
    server.misbehave = ({ path: asked }) => {
      if (!asked.startsWith('/Slot') || hasWritten) return undefined;
      hasWritten = true;
      server.store.save({
        ...server.store.get(path),
        extension: [{ url: changes.message, valueString: 'bring the papers' }],
      });
      return undefined;
    };
    await write(connector, [move()]);
    expect(await read()).toMatchObject({ start: to.start, comment: 'bring the papers' });
    expect([hasWritten, sent().length]).toEqual([true, 1]);
  });

  test.each([true, false])(
    'that gets no answer is found if it was done, without versions: %s',
    async (hidesVersions) => {
      const { server, connector, made, from, to, move, read } = await openBooked({}, { hidesVersions });
      server.misbehave = ({ method }) => (method === 'PUT' ? 'cut_before' : undefined);
      await expect(write(connector, [move()])).rejects.toMatchObject({ kind: 'outcome_unknown' });
      expect(await read()).toMatchObject({ start: from.start });
      server.misbehave = ({ method }) => (method === 'PUT' ? 'cut_after' : undefined);
      expect(await write(connector, [move()])).toMatchObject([{ id: made.id, start: to.start }]);
      const cancel: AppointmentChange = { kind: 'cancel', appointmentId: made.id };
      expect(await write(connector, [cancel])).toMatchObject([{ state: 'cancelled' }]);
    },
  );

  test('with every element needs a version', async () => {
    const { bodies: _, ...booking } = portalSettings.booking ?? {};
    const { settings, move, sent } = await openBooked({}, { hidesVersions: true });
    const whole = await openCounting({ ...settings, booking }, portalUnits);
    await expect(write(whole.connector, [move()])).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('without a version'),
    });
    expect(sent()).toEqual([]);
  });

  test('is not needed to offer some changes alone', async () => {
    const changes = ['update', 'cancel'] as const;
    const { connector, to } = await openBooked();
    const other = await openPortal({ booking: { ...portalSettings.booking, changes: [...changes] } });
    expect(other.connector.capabilities.changes).toEqual(changes);
    await expect(write(other.connector, [creation(to)])).rejects.toMatchObject({ kind: 'unsupported' });
    expect(connector.capabilities.changes).toEqual(['create', ...changes]);
  });
});

describe('the check of such a server', () => {
  test('finds no problem, and asks for nobody', async () => {
    const { server, settings } = await openPortal();
    const { findings, recommendedSettings } = await probeServer(settings, portalUnits);
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ name: 'care unit north', status: 'untried' }));
    expect(recommendedSettings).not.toHaveProperty('slots');
    expect(findings.find(({ name }) => name === 'profiles')).toBeUndefined();
    expect(server.seen.some(({ headers }) => headers.patient)).toBe(false);
  });

  test('proposes the bounds that it takes, and names its profiles', async () => {
    const { rules } = portalServer;
    if (!rules) throw new Error('The server has rules');
    const { patientHeader: _, ...others } = rules;
    const { server } = await openPortal({}, { rules: others });
    const { by_service } = portalSettings.slots ?? {};
    const { patient_header: _header, ...settings } = settingsFor(server.url, {
      ...portalSettings,
      ...(by_service ? { slots: { by_service } } : {}),
      booking: { mode: 'create' },
    });
    const { findings, recommendedSettings } = await probeServer(settings, portalUnits);
    expect(findings).toContainEqual(expect.objectContaining({ name: 'profiles', status: 'note' }));
    expect(recommendedSettings).toMatchObject({ slots: { by_service, lower_bound: 'gt', longest_hours: 24 } });
  });
});
