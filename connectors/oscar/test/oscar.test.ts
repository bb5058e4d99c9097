import { randomUUID } from 'node:crypto';
import {
  type AppointmentChange,
  type Connector,
  type EhrRequest,
  type LeftOutRecord,
  type TimeSlot,
  turnsInProcess,
} from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { afterEach, describe, expect, test } from 'vitest';
import { type FakeRecord, numbers, people, providers, types } from '../fake/data.ts';
import { type FakeOscar, startFake } from '../fake/server.ts';
import { oscarConnector } from '../src/connector.ts';
import { contextFor, north, openConnector, settingsFor, south } from './subject.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const minute = 60_000;
const day = 24 * 60 * minute;

async function open(options: Parameters<typeof startFake>[0] = {}) {
  const fake = await startFake(options);
  closing.push(fake.close);
  const leftOut: LeftOutRecord[] = [];
  const parts = { leftOut: (record: LeftOutRecord) => void leftOut.push(record) };
  return { fake, leftOut, connector: await openConnector(settingsFor(fake.url), parts) };
}

async function freeSlots(connector: Connector, service: string = types.visit): Promise<readonly TimeSlot[]> {
  const [start, end] = [new Date(Date.now() + day), new Date(Date.now() + 3 * day)];
  const query = { careUnit: north, start, end, resourceIds: [providers.ada], healthcareServiceIds: [service] };
  return (await connector.listTimeSlots?.({ ...query, limit: 200 })) ?? [];
}

/** Two that follow each other. */
async function twoSlots(connector: Connector): Promise<readonly [TimeSlot, TimeSlot]> {
  const [first, second] = await freeSlots(connector);
  if (!first || !second) throw new Error('No free slots');
  return [first, second];
}

async function change(connector: Connector, it: AppointmentChange) {
  const write = { operationId: randomUUID(), careUnit: north, isFirst: true, changes: [it] };
  const [made] = (await connector.changeAppointments?.(write)) ?? [];
  if (!made) throw new Error('No appointment');
  return made;
}

function creation(
  { start, end, resourceId, healthcareServiceId }: TimeSlot,
  patientId = people.ann,
): AppointmentChange {
  return { kind: 'create', patientId, start, end, resourceId, healthcareServiceId, comment: 'first', holdUntil: null };
}

const move = (appointmentId: string, { start, end }: TimeSlot): AppointmentChange => ({
  ...{ kind: 'update', appointmentId },
  time: { start, end },
});

/** Staff do something when an operation arrives, once. */
function once(fake: FakeOscar, operation: string, act: () => unknown): void {
  fake.arrives = async (call) => {
    if (call.operation !== operation) return;
    fake.arrives = async () => undefined;
    act();
  };
}

const takes = (fake: FakeOscar, { start, end, resourceId }: TimeSlot) =>
  fake.add({ providerNo: resourceId, demographicNo: people.ben }, start, end);

describe('sign-in', () => {
  test('callers share one token, and one that has ended with a restart is replaced once', async () => {
    const { fake, connector } = await open();
    const ask = () =>
      Promise.all(Array.from({ length: 5 }, () => connector.findPatient?.({ type: 'emr_id', value: people.ann })));
    await ask();
    fake.restart();
    expect((await ask()).every((it) => it?.id === people.ann)).toBe(true);
    expect(fake.seen.filter((it) => it === 'login2')).toHaveLength(2);
  });

  test('a booking whose token has ended is made once', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    once(fake, 'addAppointment', fake.restart);
    await change(connector, creation(slot));
    expect(fake.rows.size).toBe(1);
  });

  test('a wrong password is not tried again at once', async () => {
    const { fake } = await open();
    const wrong = await openConnector(settingsFor(fake.url, { password: { reveal: () => 'wrong' } }));
    const find = () => wrong.findPatient?.({ type: 'emr_id', value: people.ann });
    await expect(find()).rejects.toMatchObject({ kind: 'rejected', fault: true });
    await expect(find()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('free times', () => {
  test('are those of the codes of the settings, each for its types', async () => {
    const { connector } = await open();
    const hours = async (service: string) => {
      const slots = await freeSlots(connector, service);
      return new Set(
        slots.map(({ start }) =>
          start.toLocaleString('en', { timeZone: north.timeZone, hour: '2-digit', hour12: false }),
        ),
      );
    };
    expect([...(await hours(types.visit))].sort()).toEqual(['09', '10', '11', '14', '15']);
    expect([...(await hours(types.long))].sort()).toEqual(['09', '10', '11', '13', '14', '15']);
    expect((await connector.listHealthcareServices?.(north))?.map(({ id }) => id)).toEqual(['1', '2']);
  });

  test('a holiday, a day without a row and one whose template is gone have none', async () => {
    const { fake, connector } = await open();
    const dates = [...new Set((await freeSlots(connector)).map(({ start }) => dateOf(start)))];
    fake.holidays.add(dates[0] ?? '');
    fake.scheduled.set(`${providers.ada} ${dates[1]}`, null);
    fake.scheduled.set(`${providers.ada} ${dates[2]}`, 'None');
    expect(await freeSlots(connector)).toEqual([]);
    // Parts of twelve minutes.
    fake.scheduled.set(`${providers.ada} ${dates[1]}`, 'Odd');
    expect(await freeSlots(connector)).toEqual([]);
  });

  test('blocks without a patient, and other programs, take their time; whoever is cancelled or did not come does not', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    const isFree = async () =>
      (await freeSlots(connector)).some(({ start }) => start.getTime() === slot.start.getTime());
    const block = fake.add({ providerNo: providers.ada, demographicNo: '0', programId: '5' }, slot.start, slot.end);
    expect(await isFree()).toBe(false);
    for (const status of ['C', 'CS', 'N', 'D']) {
      fake.touch(block.id, { status });
      expect(await isFree()).toBe(true);
    }
    fake.touch(block.id, { status: 'c' });
    expect(await isFree()).toBe(false);
    const range = { start: slot.start, end: slot.end };
    expect(await connector.listAppointments?.({ careUnit: north, range, limit: 10 })).toEqual([]);
    expect(await connector.findAppointments?.(north, [String(block.id)])).toEqual([]);
  });

  test('a code with a limit of two has two places', async () => {
    const { connector } = await open();
    const isOfTwo = ({ start }: TimeSlot) =>
      start.toLocaleTimeString('sv', { timeZone: north.timeZone }).startsWith('13:');
    const slot = (await freeSlots(connector, types.long)).find(isOfTwo);
    if (!slot) throw new Error('No slot');
    await change(connector, creation(slot));
    await change(connector, creation(slot, people.ben));
    await expect(change(connector, creation(slot, people.vague))).rejects.toMatchObject({
      kind: 'time_slot_unavailable',
    });
  });
});

const dateOf = (instant: Date) => instant.toLocaleDateString('sv', { timeZone: north.timeZone });

describe('ends', () => {
  test.each(['cut', 'rounded'] as const)('are stored as staff store them (%s seconds)', async (seconds) => {
    const { fake, connector } = await open({ seconds });
    const [slot] = await twoSlots(connector);
    const made = await change(connector, creation(slot));
    const lastMinute = new Date(slot.end.getTime() - minute).toLocaleTimeString('sv', { timeZone: north.timeZone });
    expect(fake.rows.get(Number(made.id))?.endTime).toBe(lastMinute);
    for (let time = 1; time <= 3; time++) {
      const now = await change(connector, { kind: 'update', appointmentId: made.id, comment: `note ${time}` });
      expect([now.start, now.end]).toEqual([slot.start, slot.end]);
    }
    expect(fake.rows.get(Number(made.id))?.endTime).toBe(lastMinute);
  });

  test.each([
    ['09:14:00', 15],
    ['09:14:59', 15],
    ['09:15:00', 15],
    ['09:29:00', 30],
    ['09:12:00', 12],
    ['09:00:00', null],
    ['08:00:00', null],
  ])('09:00 to %s is read as %s minutes', async (endTime, minutes) => {
    const { fake, connector } = await open();
    const row = takes(fake, (await twoSlots(connector))[0]);
    Object.assign(row, { startTime: '09:00:00', endTime });
    const [found] = (await connector.findAppointments?.(north, [String(row.id)])) ?? [];
    expect(found?.end ? (found.end.getTime() - found.start.getTime()) / minute : null).toBe(minutes);
  });
});

test.each(['09:11:00', '09:12:30', '09:00:00'])('a change does not touch an end of %s', async (endTime) => {
  const { fake, connector } = await open();
  const row = takes(fake, (await twoSlots(connector))[0]);
  Object.assign(row, { startTime: '09:00:00', endTime });
  for (const comment of ['one', 'two']) {
    await change(connector, { kind: 'update', appointmentId: String(row.id), comment });
    expect(fake.rows.get(row.id)).toMatchObject({ startTime: '09:00:00', endTime, fields: { notes: comment } });
  }
});

describe('changes', () => {
  test('twenty callers of two gateways for one place: OSCAR books all, the connector one', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    const inTurn = turnsInProcess();
    const settings = settingsFor(fake.url);
    const gateways = [await openConnector(settings, { inTurn }), await openConnector(settings, { inTurn })];
    const callers = Array.from({ length: 20 }, (_, index) =>
      change(gateways[index % 2] as Connector, creation(slot, index % 3 ? people.ann : people.ben)),
    );
    const outcomes = await Promise.allSettled(callers);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(fake.rows.size).toBe(1);
  });

  test('a booking beside one by staff is withdrawn, and says why on the day sheet', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    once(fake, 'addAppointment', () => takes(fake, slot));
    await expect(change(connector, creation(slot))).rejects.toMatchObject({
      ...{ kind: 'time_slot_unavailable', nothingChanged: true },
    });
    expect(fake.active().map(({ fields }) => fields.demographicNo)).toEqual([people.ben]);
    const own = [...fake.rows.values()].find(({ creator }) => creator === 'gateway');
    expect(own?.fields).toMatchObject({ status: 'C', reason: expect.stringContaining('Withdrawn'), notes: 'first' });
  });

  test('staff see the patient, the type and the place of a booking', async () => {
    const { fake, connector } = await open();
    const made = await change(connector, creation((await twoSlots(connector))[0]));
    expect(fake.rows.get(Number(made.id))?.fields).toMatchObject({
      ...{ name: 'Example,Test', type: 'Visit', reason: 'Visit', location: 'North', programId: '0', status: 't' },
    });
  });

  test.each(['keeps', 'loses'] as const)(
    'a move beside a booking by staff goes back, and %s its former time',
    async (keeps) => {
      const { fake, connector } = await open();
      const [from, to] = await twoSlots(connector);
      const made = await change(connector, creation(from));
      once(fake, 'updateAppointment', () => {
        takes(fake, to);
        if (keeps === 'loses') takes(fake, from);
      });
      await expect(change(connector, move(made.id, to))).rejects.toMatchObject(
        keeps === 'keeps' ? { kind: 'time_slot_unavailable', nothingChanged: true } : { kind: 'outcome_unknown' },
      );
      const [now] = (await connector.findAppointments?.(north, [made.id])) ?? [];
      expect(now).toEqual(keeps === 'keeps' ? made : { ...made, start: to.start, end: to.end });
    },
  );

  test('a move that has to go back leaves an appointment where staff have moved it meanwhile', async () => {
    const { fake, connector } = await open();
    const [from, to] = await twoSlots(connector);
    const elsewhere = (await freeSlots(connector)).at(-1);
    if (!elsewhere) throw new Error('There is no other time');
    const made = await change(connector, creation(from));
    once(fake, 'updateAppointment', () => {
      takes(fake, to);
      once(fake, 'getDayWorkSchedule', () => fake.touch(made.id, {}, [elsewhere.start, elsewhere.end]));
    });
    await expect(change(connector, move(made.id, to))).rejects.toMatchObject({ kind: 'outcome_unknown' });
    const [now] = (await connector.findAppointments?.(north, [made.id])) ?? [];
    expect(now?.start).toEqual(elsewhere.start);
  });

  // Before the server reads the row, and between its reading and its archiving.
  describe.each(['arrives', 'loaded'] as const)('staff act when an update %s', (moment) => {
    function meanwhile(fake: FakeOscar, act: () => void) {
      if (moment === 'arrives') return once(fake, 'updateAppointment', act);
      fake.loaded = async () => {
        fake.loaded = async () => undefined;
        act();
      };
    }

    test.each(['comment', 'move'] as const)('a %s does not bring back what they cancel', async (kind) => {
      const { fake, connector } = await open();
      const [from, to] = await twoSlots(connector);
      const { id } = await change(connector, creation(from));
      meanwhile(fake, () => fake.touch(id, { status: 'C', notes: 'by staff' }));
      const update: AppointmentChange = { kind: 'update', appointmentId: id, comment: 'second' };
      await expect(change(connector, kind === 'move' ? move(id, to) : update)).rejects.toMatchObject({
        ...{ kind: 'appointment_cancelled', nothingChanged: true },
      });
      expect(fake.rows.get(Number(id))?.fields).toMatchObject({ status: 'C', notes: 'by staff' });
      expect((await freeSlots(connector)).slice(0, 2)).toEqual([from, to]);
    });

    test('a move keeps their comment and the arrival, and a comment keeps what else they write', async () => {
      const { fake, connector } = await open();
      const [from, to] = await twoSlots(connector);
      const { id } = await change(connector, creation(from));
      meanwhile(fake, () => fake.touch(id, { notes: 'by staff', billing: 'b' }));
      expect(await change(connector, move(id, to))).toMatchObject({ start: to.start, comment: 'by staff' });
      expect(fake.rows.get(Number(id))?.fields).toMatchObject({ billing: 'b' });
      meanwhile(fake, () => fake.touch(id, { status: 'H', urgency: 'high' }));
      const commented = await change(connector, { kind: 'update', appointmentId: id, comment: 'second' });
      expect(commented).toMatchObject({ attendance: 'arrived', comment: 'second' });
      expect(fake.rows.get(Number(id))?.fields).toMatchObject({ urgency: 'high' });
    });

    test('a change of what they delete is told as not found', async () => {
      const { fake, connector } = await open();
      const { id } = await change(connector, creation((await twoSlots(connector))[0]));
      meanwhile(fake, () => fake.remove(id));
      const cancellation = change(connector, { kind: 'cancel', appointmentId: id });
      await expect(cancellation).rejects.toMatchObject({ kind: 'appointment_not_found', nothingChanged: true });
    });
  });

  const archives = 'getAppointmentArchivesUpdatedAfterDate';

  test('what staff write after a change is not taken for what it has overwritten', async () => {
    const { fake, connector } = await open();
    const [from, to] = await twoSlots(connector);
    const { id } = await change(connector, creation(from));
    const changes = [move(id, to), { kind: 'update', appointmentId: id, comment: 'second' } as const];
    for (const [index, it] of changes.entries()) {
      once(fake, archives, () => fake.touch(id, { urgency: `after ${index}` }));
      await change(connector, it);
      expect(fake.rows.get(Number(id))?.fields).toMatchObject({ urgency: `after ${index}` });
      expect(fake.seen.filter((operation) => operation === 'updateAppointment')).toHaveLength(index + 1);
    }
  });

  test('of a patient with two bookings made in one second, the other one is not taken for a former version', async () => {
    const { fake, connector } = await open();
    const [from, other, to] = (await freeSlots(connector)) as [TimeSlot, TimeSlot, TimeSlot];
    const made = await change(connector, creation(from));
    const twin = await change(connector, { ...creation(other), comment: 'of the other' } as AppointmentChange);
    const created = [made, twin].map(({ id }) => fake.rows.get(Number(id)));
    for (const row of created) if (row) row.created = 0;
    once(fake, archives, () => fake.touch(twin.id, { status: 'C' }));
    expect(await change(connector, move(made.id, to))).toMatchObject({ comment: 'first', start: to.start });
  });

  test('fields that the connector does not know by name are written back, and null stays null', async () => {
    const { fake, connector } = await open();
    const row = takes(fake, (await twoSlots(connector))[0]);
    Object.assign(row.fields, {
      bookingSource: 'MYOSCAR_SELF_BOOKING',
      resources: null,
      remarks: 'kept',
      notes: ' a\r\nb',
    });
    await change(connector, { kind: 'cancel', appointmentId: String(row.id) });
    expect(fake.rows.get(row.id)?.fields).toMatchObject({
      ...{ bookingSource: 'MYOSCAR_SELF_BOOKING', resources: null, remarks: 'kept', status: 'C' },
    });
  });

  test('a comment with emoji, which the database cuts, is refused', async () => {
    const { fake, connector } = await open();
    const booking = { ...creation((await twoSlots(connector))[0]), comment: 'a 🩺 b' } as AppointmentChange;
    await expect(change(connector, booking)).rejects.toMatchObject({
      ...{ kind: 'change_not_allowed', publicDetail: expect.stringContaining('emoji') },
    });
    expect(fake.rows.size).toBe(0);
  });

  test.each([
    [people.died, 'patient_inactive'],
    [people.merged, 'patient_inactive'],
    ['999', 'patient_not_found'],
    ['1 or 1', 'patient_not_found'],
  ])('nobody is booked as patient %s', async (patient, kind) => {
    const { fake, connector } = await open();
    const booking = change(connector, creation((await twoSlots(connector))[0], patient));
    await expect(booking).rejects.toMatchObject({ kind });
    expect(fake.seen).not.toContain('addAppointment');
  });

  test('a visit that has started is neither moved nor cancelled', async () => {
    const { fake, connector } = await open();
    const [from, to] = await twoSlots(connector);
    const { id } = await change(connector, creation(from));
    for (const status of ['H', 'P', 'E', 'B', 'tS', 'aV']) {
      fake.touch(id, { status });
      for (const it of [move(id, to), { kind: 'cancel', appointmentId: id } as const]) {
        await expect(change(connector, it)).rejects.toMatchObject({ kind: 'appointment_started' });
      }
    }
  });

  test('a time that has begun is not booked', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    const [start, end] = [slot.start, slot.end].map((it) => new Date(it.getTime() - 4 * day)) as [Date, Date];
    const booking = change(connector, creation({ ...slot, start, end }));
    await expect(booking).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(fake.rows.size).toBe(0);
  });

  test.each([
    ['soap:Client', true],
    ['ns1:SecurityError', true],
    ['soap:Server', false],
  ])('a fault %s says that a write was refused: %s', async (code, isRefused) => {
    const { fake } = await open();
    const told: (boolean | undefined)[] = [];
    const http = plainHttp();
    const send = async (request: EhrRequest) => {
      const response = await http.send(request);
      if (request.writes) told.push(request.refused?.(response));
      return response;
    };
    const connector = await openConnector(settingsFor(fake.url), { http: { ...http, send } });
    const [slot] = await twoSlots(connector);
    const fault = `<s:Fault><faultcode>${code}</faultcode><faultstring>No</faultstring></s:Fault>`;
    const message = `<s:Envelope xmlns:s="${soap}"><s:Body>${fault}</s:Body></s:Envelope>`.replace('<faultcode', ns1);
    fake.misbehave = ({ operation }) => (operation === 'addAppointment' ? [500, message] : undefined);
    await expect(change(connector, creation(slot))).rejects.toMatchObject({ kind: 'rejected' });
    expect(new Set(told)).toEqual(new Set([isRefused]));
  });
  const soap = 'http://schemas.xmlsoap.org/soap/envelope/';
  const ns1 = '<faultcode xmlns:soap="urn:soap" xmlns:ns1="urn:ns1"';

  test.each([
    ['is withdrawn beside an earlier one', 'earlier', {}, ''],
    ['stays if it is alone', 'no', {}, ''],
    ['stays if staff have booked over it since', 'later', {}, ''],
    ['stays if the visit has started', 'earlier', {}, 'H'],
    ['stays if staff made it', 'earlier', { creator: 'desk' }, ''],
    ['stays if it was there before', 'earlier', { created: 0 }, ''],
  ])('a booking that was made after its gateway was killed %s', async (name, other, row, status) => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    const since = new Date();
    const booking = creation(slot);
    // Not to be seen yet.
    const earlier = takes(fake, slot);
    earlier.fields.status = 'C';
    const { id } = await change(connector, booking);
    const made = fake.rows.get(Number(id));
    Object.assign(made ?? {}, row);
    if (made && status) made.fields.status = status;
    if (other === 'earlier') earlier.fields.status = 't';
    if (other === 'later') takes(fake, slot);
    const settle = () => connector.settleChanges?.({ careUnit: north, made: [booking], notSeen: [], since });
    for (let time = 1; time <= 2; time++) expect(await settle()).toBe(true);
    const [now] = (await connector.findAppointments?.(north, [id])) ?? [];
    expect(now?.state).toBe(name.startsWith('is withdrawn') ? 'cancelled' : 'booked');
    const unseen = { careUnit: north, made: [], notSeen: [booking], since };
    expect(await connector.settleChanges?.(unseen)).toBe(false);
  });

  test('a fault of a booking is not told as not made', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    fake.misbehave = ({ operation }) => (operation === 'addAppointment' ? 'cut' : undefined);
    await expect(change(connector, creation(slot))).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(fake.rows.size).toBe(1);
  });
});

describe('patients', () => {
  test('by number: equal ones only, of Ontario, and the record that has replaced a merged one', async () => {
    const { connector } = await open();
    const find = (value: string) => connector.findPatient?.({ type: 'ca_on_hcn', value });
    expect(await find(numbers.ann)).toMatchObject({
      id: people.ann,
      birthDate: '1970-03-09',
      email: 'ann@example.com',
    });
    expect(await find(numbers.merged)).toMatchObject({
      id: people.head,
      replaces: expect.arrayContaining([{ type: 'ca_on_hcn', value: numbers.merged }]),
    });
    await expect(find(numbers.twins)).rejects.toMatchObject({ kind: 'patient_ambiguous' });
    expect(await connector.findPatient?.({ type: 'emr_id', value: people.merged })).toMatchObject({
      ...{ id: people.head, replaces: [{ type: 'emr_id', value: people.merged }] },
    });
  });

  test('nulls and dates that the calendar does not have hide nobody', async () => {
    const { connector } = await open();
    const vague = await connector.findPatient?.({ type: 'emr_id', value: people.vague });
    expect(vague).toMatchObject({ familyName: 'Vague', birthDate: null, gender: 'other', address: null });
    expect(vague?.isInactive).toBe(undefined);
  });
});

describe('records', () => {
  test.each([
    ['appointment', { appointmentStartDateTime: '2030-01-01T09:00:00' }],
    ['appointment', { demographicNo: null }],
    ['timeSlot', { scheduleCode: null }],
    ['provider', { providerNo: null }],
    ['appointmentType', { name: '' }],
  ] as readonly (readonly [string, FakeRecord])[])(
    'a %s that cannot be read (%j) hides no other, and is counted',
    async (type, broken) => {
      const { fake, leftOut, connector } = await open();
      const [first, second] = await twoSlots(connector);
      const made = await change(connector, creation(first));
      await change(connector, creation(second));
      const before = (await freeSlots(connector)).length;
      const fresh = await openConnector(settingsFor(fake.url), { leftOut: (it) => void leftOut.push(it) });
      let count = 0;
      const isFirst = (record: FakeRecord) => type !== 'appointment' || record.id === Number(made.id);
      fake.spoil = (of, record) =>
        of === type && isFirst(record) && count++ === 0 ? { ...record, ...broken } : record;
      const range = { start: first.start, end: second.end };
      const listed = await fresh.listAppointments?.({ careUnit: north, range, limit: 10 });
      const [resources, free] = [await fresh.listResources?.(north), await freeSlots(fresh)];
      expect(leftOut.map((it) => it.type)).toEqual([type]);
      expect(listed).toHaveLength(type === 'appointment' ? 1 : 2);
      expect(resources).toHaveLength(type === 'provider' ? 1 : 2);
      expect(free.length).toBeGreaterThanOrEqual(type === 'provider' ? 0 : before - 1);
    },
  );

  test('an appointment whose patient cannot be read takes its time', async () => {
    const { fake, connector } = await open();
    const [slot] = await twoSlots(connector);
    takes(fake, slot);
    fake.spoil = (of, record) => (of === 'appointment' ? { ...record, demographicNo: null } : record);
    const free = await freeSlots(connector);
    expect(free.map(({ start }) => start)).not.toContainEqual(slot.start);
    await expect(change(connector, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  });

  test('nulls, and words that the connector does not know, do not hide an appointment', async () => {
    const { fake, connector } = await open();
    const { id } = await change(connector, creation((await twoSlots(connector))[0]));
    fake.touch(id, { notes: null, type: 'Renamed', status: null, name: null, urgency: null });
    expect(await connector.findAppointments?.(north, [id, 'no-id'])).toMatchObject([
      { id, state: 'booked', comment: null, healthcareServiceId: null, resourceId: providers.ada },
    ]);
    expect(await connector.findAppointments?.(south, [id])).toEqual([]);
  });

  test.each([
    ['t', 'booked', null],
    ['h', 'booked', null],
    ['H', 'booked', 'arrived'],
    ['aV', 'booked', 'completed'],
    ['B', 'booked', 'completed'],
    ['NS', 'cancelled', 'no_show'],
    ['CV', 'cancelled', null],
    ['c', 'booked', null],
  ])('the status %s is %s, and %s', async (status, state, attendance) => {
    const { fake, connector } = await open();
    const { id } = takes(fake, (await twoSlots(connector))[0]);
    fake.touch(id, { status });
    expect(await connector.findAppointments?.(north, [String(id)])).toMatchObject([{ state, attendance }]);
  });

  test('appointments of a patient, and all without a range, come in order', async () => {
    const { fake, connector } = await open();
    const [first] = await twoSlots(connector);
    for (const years of [-3, 1, -20, 0]) {
      const start = new Date(first.start.getTime() + years * 365 * day);
      fake.add(
        { providerNo: providers.ada, demographicNo: people.ben },
        start,
        new Date(start.getTime() + 15 * minute),
      );
    }
    fake.add({ providerNo: providers.cleo, demographicNo: people.ben }, first.start, first.end);
    const range = { start: new Date('2000-01-01T05:00:00Z'), end: new Date(first.end.getTime() + 366 * day) };
    for (const filter of [{ patientId: people.ben }, { resourceId: providers.ada }, {}, { range }]) {
      const all = (await connector.listAppointments?.({ careUnit: north, limit: 10, ...filter })) ?? [];
      expect(all.map(({ start }) => start.getFullYear() - first.start.getFullYear())).toEqual([-20, -3, 0, 1]);
      const [, , third] = all;
      const after = third && { start: third.start, id: third.id };
      expect(await connector.listAppointments?.({ careUnit: north, limit: 10, ...filter, after })).toEqual(
        all.slice(3),
      );
    }
  });
});

describe('changes by staff', () => {
  test('several in one second are all told, and what leaves the care unit is hidden', async () => {
    const { fake, connector } = await open();
    const { id } = await change(connector, creation((await twoSlots(connector))[0]));
    const at = fake.rows.get(Number(id))?.updated;
    const list = (after?: string) =>
      connector.listAppointmentChanges?.({ careUnits: [north, south], after, limit: 10 });
    let next = (await list())?.next;
    for (const notes of ['one', 'two']) {
      fake.touch(id, { notes }, [], at);
      const page = await list(next);
      expect(page?.changes.map(({ appointment }) => appointment.comment)).toEqual([notes]);
      next = page?.next;
    }
    fake.touch(id, { providerNo: '900009' }, [], at);
    expect(await list(next)).toMatchObject({ changes: [], hidden: [id] });
  });
});

test('hundreds of changes in one second, which have no order, are told once each', async () => {
  const { fake, connector } = await open();
  const list = (after?: string) => connector.listAppointmentChanges?.({ careUnits: [north], after, limit: 7 });
  let position = await list();
  const [slot] = await twoSlots(connector);
  const made = Array.from({ length: 300 }, () => takes(fake, slot));
  for (const row of made) row.updated = (made[0]?.updated ?? 0) + (row.id % 3 === 0 ? 1000 : 0);
  const told: string[] = [];
  do {
    // From then on, no transaction of that time is open.
    if (told.length > 50) fake.clock = () => Date.now() + 60 * minute;
    position = await list(position?.next);
    told.push(...(position?.changes ?? []).map(({ appointment }) => appointment.id));
  } while (position?.hasMore);
  expect(told.toSorted()).toEqual(made.map(({ id }) => String(id)).toSorted());
});

test('the probe tells what the settings and the server do not agree on, and writes nothing', async () => {
  const { fake } = await open();
  const statuses = async (context: Parameters<NonNullable<typeof oscarConnector.probe>>[0]) => {
    const report = await oscarConnector.probe?.(context);
    return report?.findings.map(({ name, status }) => `${name}: ${status}`);
  };
  const settings = settingsFor(fake.url);
  const units = ['north', 'south'].flatMap((id) => [`care unit ${id}: clock: ok`, `care unit ${id}: ok`]);
  expect(await statuses(contextFor(settings))).toEqual(['sign-in: ok', 'patients: ok', ...units]);
  const mistaken = { ...north, timeZone: 'America/Vancouver', settings: { ...north.settings, providers: ['1'] } };
  const context = { ...contextFor(settingsFor(fake.url, { username: 'limited' })), careUnits: [mistaken] };
  expect(await statuses(context)).toEqual([
    ...['sign-in: ok', 'patients: problem', 'care unit north: clock: problem', 'care unit north: problem'],
  ]);
  expect(await statuses(contextFor(settingsFor(fake.url, { namespace: 'http://other/' })))).toEqual([
    'sign-in: problem',
  ]);
  expect(fake.rows.size).toBe(0);
});

test.each([
  [{ providers: [] }, 'providers'],
  [{ ...north.settings, codes: [{ code: '1' }, { code: '1' }] }, 'twice'],
  [{ providers: [providers.cleo], codes: [{ code: '1' }] }, 'two care units'],
])('settings of a care unit that cannot be meant are refused: %j', async (settings, words) => {
  const context = { ...contextFor(settingsFor('http://127.0.0.1:1/ws')), careUnits: [south, { ...north, settings }] };
  await expect(oscarConnector.open(context)).rejects.toMatchObject({
    ...{ kind: 'rejected', message: expect.stringContaining(words) },
  });
});
