import { randomUUID } from 'node:crypto';
import {
  type AppointmentChange,
  type Connector,
  type LeftOutRecord,
  type TimeSlot,
  turnsInProcess,
} from '@crossward/connector-kit';
import { afterEach, describe, expect, test } from 'vitest';
import { configs, people, resources } from '../fake/data.ts';
import { startFake } from '../fake/server.ts';
import { careConnector } from '../src/connector.ts';
import { contextFor, north, openConnector, settingsFor, south } from './subject.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(
  settings: Parameters<typeof settingsFor>[1] = {},
  fakeOptions: Parameters<typeof startFake>[0] = {},
) {
  const fake = await startFake(fakeOptions);
  closing.push(fake.close);
  const leftOut: LeftOutRecord[] = [];
  const parts = { leftOut: (record: LeftOutRecord) => void leftOut.push(record) };
  return { fake, leftOut, connector: await openConnector(settingsFor(fake.url, settings), parts) };
}

const day = 24 * 60 * 60 * 1000;
async function freeSlots(connector: Connector, resourceIds = [resources.ada.id]): Promise<readonly TimeSlot[]> {
  const [start, end] = [new Date(), new Date(Date.now() + 3 * day)];
  return (await connector.listTimeSlots?.({ careUnit: north, start, end, resourceIds, limit: 100 })) ?? [];
}

async function change(connector: Connector, it: AppointmentChange) {
  const write = { operationId: randomUUID(), careUnit: north, isFirst: true, changes: [it] };
  const [made] = (await connector.changeAppointments?.(write)) ?? [];
  if (!made) throw new Error('No appointment');
  return made;
}

function creation(slot: TimeSlot | undefined, patientId = people.asha): AppointmentChange {
  if (!slot) throw new Error('No free slot');
  const { start, end, resourceId, healthcareServiceId } = slot;
  const place = { start, end, resourceId, healthcareServiceId };
  return { kind: 'create', patientId, ...place, comment: 'first', holdUntil: null };
}

describe('sign-in', () => {
  const signIns = (seen: readonly { readonly path: string }[]) =>
    seen.filter(({ path }) => path.includes('/auth/')).length;

  test('callers share one token, a token that has ended is refreshed once, and one without refresh signs in again', async () => {
    const { fake, connector } = await open();
    const ask = () =>
      Promise.all(Array.from({ length: 10 }, () => connector.findPatient?.({ type: 'emr_id', value: people.asha })));
    await ask();
    expect(signIns(fake.seen)).toBe(1);
    fake.endTokens();
    expect((await ask()).every((it) => it?.id === people.asha)).toBe(true);
    expect(fake.seen.filter(({ path }) => path.endsWith('token/refresh/'))).toHaveLength(1);
    fake.endTokens(false);
    expect((await ask()).every((it) => it?.id === people.asha)).toBe(true);
    expect(signIns(fake.seen)).toBe(4);
  });

  test('a token is replaced before it ends, and a wrong password is not tried again at once', async () => {
    const { fake, connector } = await open({}, { tokenSeconds: 20 });
    for (let call = 1; call <= 2; call++) await connector.findPatient?.({ type: 'emr_id', value: people.asha });
    expect(fake.seen.filter(({ path }) => path.endsWith('token/refresh/'))).toHaveLength(1);
    const wrong = await openConnector(settingsFor(fake.url, { password: { reveal: () => 'wrong' } }));
    const find = () => wrong.findPatient?.({ type: 'emr_id', value: people.asha });
    await expect(find()).rejects.toMatchObject({ kind: 'rejected', fault: true });
    await expect(find()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('free times', () => {
  test('slots that CARE has made several times are one', async () => {
    const { fake, connector } = await open();
    // All are at the server before it answers one of them.
    const waiting: (() => void)[] = [];
    fake.arrives = async ({ path }) => {
      if (!path.endsWith('get_slots_for_day/')) return;
      const all = new Promise<void>((resolve) => void waiting.push(resolve));
      if (waiting.length === 4) for (const go of waiting.splice(0)) go();
      await all;
    };
    const looks = await Promise.all(Array.from({ length: 4 }, () => freeSlots(connector)));
    fake.arrives = async () => undefined;
    expect(fake.slots.length).toBeGreaterThan(3 * 12);
    for (const slots of looks) expect(new Set(slots.map(({ start }) => start.getTime())).size).toBe(slots.length);
    const [slot] = looks[0] as readonly TimeSlot[];
    await change(connector, creation(slot));
    expect((await freeSlots(connector)).map(({ start }) => start)).not.toContainEqual(slot?.start);
    await expect(change(connector, creation(slot, people.ravi))).rejects.toMatchObject({
      kind: 'time_slot_unavailable',
    });
  });

  test('a count that is too low hides no booking, and one slot with two places takes two', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector);
    await change(connector, creation(slot));
    for (const it of fake.slots) it.allocated = 0;
    expect((await freeSlots(connector)).map(({ start }) => start)).not.toContainEqual(slot?.start);
    const [place] = await freeSlots(connector, [resources.ward.id]);
    await change(connector, creation(place));
    await change(connector, creation(place, people.ravi));
    await expect(change(connector, creation(place, people.yearOnly))).rejects.toMatchObject({
      kind: 'time_slot_unavailable',
    });
  });

  test('services of the settings have the slots of their availabilities, each of one', async () => {
    const { fake } = await open();
    const service = { id: 'c', name: 'Consultation', availabilities: ['Consultation'] };
    const settings = { ...north.settings, healthcare_services: [service] };
    const context = { ...contextFor(settingsFor(fake.url)), careUnits: [{ ...north, settings }] };
    const [slot] = await freeSlots(await careConnector.open(context));
    expect(slot?.healthcareServiceId).toBe('c');
    const twice = { ...settings, healthcare_services: [service, { ...service, id: 'd' }] };
    const mistaken = careConnector.open({ ...context, careUnits: [{ ...north, settings: twice }] });
    await expect(mistaken).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('changes', () => {
  test('twenty callers of two gateways for one place: CARE books several, the connector one', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector);
    const inTurn = turnsInProcess();
    const settings = settingsFor(fake.url);
    const gateways = [await openConnector(settings, { inTurn }), await openConnector(settings, { inTurn })];
    const callers = Array.from({ length: 20 }, (_, index) => {
      const booking = creation(slot, index % 3 ? people.asha : people.ravi);
      return change(gateways[index % 2] as Connector, booking);
    });
    const outcomes = await Promise.allSettled(callers);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect([...fake.bookings.values()].filter(({ status }) => status === 'booked')).toHaveLength(1);
  });

  test('a booking after which somebody else turns out to have been first is withdrawn', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector);
    fake.meanwhile = async () => {
      const taken = fake.slots.find((it) => it.start === slot?.start.getTime() && it.resource === resources.ada);
      if (taken) fake.add(taken, people.ravi);
      fake.meanwhile = async () => undefined;
    };
    await expect(change(connector, creation(slot))).rejects.toMatchObject({
      kind: 'time_slot_unavailable',
      nothingChanged: true,
    });
    expect([...fake.bookings.values()].map(({ status }) => status).sort()).toEqual(['booked', 'entered_in_error']);
  });

  test.each(['keeps', 'cannot keep'] as const)(
    'a move to a time that turns out to be taken %s the former one',
    async (keeps) => {
      const { fake, connector } = await open();
      const [from, to] = await freeSlots(connector);
      const made = await change(connector, creation(from));
      const take = (time: TimeSlot | undefined) => {
        const slot = fake.slots.find((it) => it.start === time?.start.getTime() && it.resource === resources.ada);
        if (slot) fake.add(slot, people.ravi);
      };
      // Staff are between CARE's count of the places and its booking.
      fake.counted = async () => {
        fake.counted = async () => undefined;
        take(to);
      };
      fake.misbehave = ({ path }) => {
        if (keeps !== 'keeps' && path.endsWith('cancel/')) take(from);
        return undefined;
      };
      const call = change(connector, { kind: 'update', appointmentId: made.id, ...(to && { time: to }) });
      await expect(call).rejects.toMatchObject(
        keeps === 'keeps' ? { kind: 'time_slot_unavailable', nothingChanged: true } : { kind: 'outcome_unknown' },
      );
      const [now] = (await connector.findAppointments?.(north, [made.id])) ?? [];
      expect(now).toEqual(keeps === 'keeps' ? made : { ...made, state: 'cancelled' });
      const starts = [...fake.bookings.values()]
        .filter(({ status }) => status === 'booked')
        .map(({ slot }) => slot.start);
      expect(starts.sort()).toEqual([from?.start.getTime(), to?.start.getTime()]);
    },
  );

  test.each(['comment', 'move'] as const)('a %s does not bring back what staff cancel in between', async (kind) => {
    const { fake, connector } = await open();
    const [from, to] = await freeSlots(connector);
    const made = await change(connector, creation(from));
    const booking = fake.bookings.get(made.id);
    fake.meanwhile = async () => {
      if (booking) fake.free(booking, 'cancelled', undefined);
      fake.meanwhile = async () => undefined;
    };
    // Staff are between the look before and the transaction.
    fake.misbehave = ({ path }) => {
      if (path.endsWith('batch_requests/')) void fake.meanwhile();
      return undefined;
    };
    const update = { kind: 'update', appointmentId: made.id } as const;
    const call = change(connector, kind === 'move' && to ? { ...update, time: to } : { ...update, comment: 'second' });
    await expect(call).rejects.toMatchObject({ kind: 'appointment_cancelled' });
    expect([...fake.bookings.values()].filter(({ status }) => status === 'booked')).toEqual([]);
  });

  test('a comment does not send away a patient who arrives in between', async () => {
    const { fake, connector } = await open();
    const made = await change(connector, creation((await freeSlots(connector))[0]));
    const booking = fake.bookings.get(made.id);
    let isFirst = true;
    fake.misbehave = ({ path }) => {
      if (path.endsWith('batch_requests/') && isFirst && booking) fake.touch(booking, { status: 'checked_in' });
      if (path.endsWith('batch_requests/')) isFirst = false;
      return undefined;
    };
    const commented = await change(connector, { kind: 'update', appointmentId: made.id, comment: 'second' });
    expect(commented).toMatchObject({ attendance: 'arrived', comment: 'second' });
    expect(booking).toMatchObject({ status: 'checked_in', note: 'second' });
  });

  test('a move gives a new id, keeps the comment, and frees the former time', async () => {
    const { connector } = await open();
    const [from, to] = await freeSlots(connector);
    const made = await change(connector, creation(from));
    const moved = await change(connector, { kind: 'update', appointmentId: made.id, ...(to && { time: to }) });
    expect(moved).toMatchObject({ start: to?.start, comment: 'first', state: 'booked' });
    expect(moved.id).not.toBe(made.id);
    expect((await connector.findAppointments?.(north, [made.id]))?.[0]?.state).toBe('cancelled');
    expect(await freeSlots(connector)).toContainEqual(from);
  });

  describe('of a gateway that is gone', () => {
    const since = new Date(Date.now() - 1_000);
    async function booked(kind: 'booking' | 'move') {
      const { fake, connector } = await open();
      const [from, to] = await freeSlots(connector);
      if (!to) throw new Error('There are too few free times');
      const first = creation(kind === 'booking' ? to : from);
      const made = await change(connector, first);
      const move = { kind: 'update', appointmentId: made.id, time: to } as const;
      const last = kind === 'booking' ? made : await change(connector, move);
      const settle = (at = since) =>
        connector.settleChanges?.({
          careUnit: north,
          made: [kind === 'booking' ? first : move],
          notSeen: [],
          since: at,
        });
      /** Another gateway had booked the place before. */
      const earlier = (patient: string) => {
        const slot = fake.slots.find((it) => it.start === to.start.getTime() && it.resource === resources.ada);
        const own = fake.bookings.get(last.id);
        if (!slot || !own) throw new Error('There is no booking');
        fake.touch(own, { created: fake.add(slot, patient).created + 1 });
      };
      const stateOf = async (id: string) => (await connector.findAppointments?.(north, [id]))?.[0]?.state;
      return { fake, connector, made, last, settle, earlier, stateOf };
    }

    test.each(['booking', 'move'] as const)('a %s that stands alone stays', async (kind) => {
      const { last, settle, stateOf } = await booked(kind);
      expect(await settle()).toBe(true);
      expect(await stateOf(last.id)).toBe('booked');
    });

    test('a booking that turns out to be the second is withdrawn', async () => {
      const { last, settle, earlier, stateOf } = await booked('booking');
      earlier(people.ravi);
      expect(await settle()).toBe(true);
      expect(await stateOf(last.id)).toBe('cancelled');
      expect(await settle()).toBe(true);
    });

    test('a move that turns out to be the second is taken back', async () => {
      const { made, last, settle, earlier, stateOf } = await booked('move');
      earlier(people.ravi);
      expect(await settle()).toBe(true);
      expect([await stateOf(made.id), await stateOf(last.id)]).toEqual(['booked', 'cancelled']);
    });

    test('a booking from before is left, and what was not seen may still be made', async () => {
      const { connector, last, settle, earlier, stateOf } = await booked('booking');
      earlier(people.ravi);
      expect(await settle(new Date(Date.now() + 120_000))).toBe(true);
      expect(await stateOf(last.id)).toBe('booked');
      const notSeen = [{ kind: 'cancel', appointmentId: last.id }] as const;
      expect(await connector.settleChanges?.({ careUnit: north, made: [], notSeen, since })).toBe(false);
    });
  });

  test('a booking without an answer is not told as not made, and a lock is waited for', async () => {
    const { fake, connector } = await open();
    const [slot, other] = await freeSlots(connector);
    fake.misbehave = ({ path }) => (path.endsWith('create_appointment/') ? 'cut' : undefined);
    await expect(change(connector, creation(slot))).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(fake.bookings.size).toBe(1);
    let locks = 3;
    fake.misbehave = ({ path }) =>
      path.endsWith('create_appointment/') && locks-- > 0 ? [423, { code: 'object_locked' }] : undefined;
    expect(await change(connector, creation(other))).toMatchObject({ state: 'booked' });
  });

  test.each([
    [[400, { errors: [{ msg: 'Patient already has maximum number of appointments (10)' }] }], 'change_not_allowed'],
    [[400, { errors: [{ msg: 'Slot is already past' }] }], 'time_slot_unavailable'],
    [[404, { detail: 'Not found.' }], 'time_slot_unavailable'],
    [[403, { detail: 'No', code: 'permission_denied' }], 'rejected'],
    [[500, 'a page'], 'rejected'],
  ] as const)('the answer %j to a booking is told as %s', async (answer, kind) => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector);
    fake.misbehave = ({ path }) => (path.endsWith('create_appointment/') ? answer : undefined);
    await expect(change(connector, creation(slot))).rejects.toMatchObject({ kind });
    expect(fake.seen.filter(({ path }) => path.endsWith('create_appointment/'))).toHaveLength(1);
  });
});

describe('records', () => {
  test('two patients with one number are ambiguous, and people who are found in part are nobody', async () => {
    const { fake, connector } = await open();
    const twins = { type: 'no_personal_number', value: '13116900569' } as const;
    await expect(connector.findPatient?.(twins)).rejects.toMatchObject({ kind: 'patient_ambiguous' });
    const partial = await openConnector(
      settingsFor(fake.url, { identifier_systems: { no_personal_number: configs.card.config.system } }),
    );
    await expect(partial.findPatient?.(twins)).rejects.toMatchObject({ kind: 'rejected' });
    expect(await connector.findPatient?.({ type: 'emr_id', value: people.died })).toMatchObject({ isInactive: true });
    expect(await connector.findPatient?.({ type: 'emr_id', value: people.yearOnly })).toMatchObject({
      birthDate: null,
    });
  });

  test.each([
    ['booking', { token_slot: null }],
    ['booking', { patient: null }],
    ['slot', { availability: null }],
    ['slot', { start_datetime: '2030-01-01T09:00:00' }],
    ['user', { id: 7 }],
  ] as const)('a %s that cannot be read (%j) hides no other, and is counted', async (type, broken) => {
    const { fake, connector, leftOut } = await open();
    const [first, second] = await freeSlots(connector);
    const made = await change(connector, creation(first));
    await change(connector, creation(second));
    const before = { slots: (await freeSlots(connector)).length };
    let count = 0;
    const fresh = await openConnector(settingsFor(fake.url), { leftOut: (it) => void leftOut.push(it) });
    fake.spoil = (of, record) => (of === type && count++ === 0 ? { ...record, ...broken } : record);
    const start = new Date(first?.start ?? 0);
    const range = { start, end: new Date(start.getTime() + day) };
    const listed = await fresh.listAppointments?.({ careUnit: north, range, limit: 10 });
    const resourcesLeft = await fresh.listResources?.(north);
    const free = await freeSlots(fresh);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(leftOut[0]?.type).toBe(type);
    if (type === 'booking') expect(listed).toHaveLength(1);
    if (type === 'slot') expect(free.length).toBeGreaterThanOrEqual(before.slots - 1);
    if (type === 'user') expect(resourcesLeft).toHaveLength(2);
    fake.spoil = (of, record) => (of === 'booking' && record.id === made.id ? { ...record, status: 7 } : record);
    await expect(fresh.findAppointments?.(north, [made.id])).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('nulls and unknown words in a booking do not hide it', async () => {
    const { fake, connector } = await open();
    const made = await change(connector, creation((await freeSlots(connector))[0]));
    fake.spoil = (of, record) =>
      of === 'booking' ? { ...record, note: null, resource: null, status: 'a later word', created_date: null } : record;
    expect(await connector.findAppointments?.(north, [made.id, 'no-id'])).toMatchObject([
      { id: made.id, state: 'pending', comment: null, resourceId: null },
    ]);
    expect(await connector.findAppointments?.(south, [made.id])).toEqual([]);
  });
});

test('the probe tells whether the user may book, and books nothing', async () => {
  const { fake } = await open();
  const statuses = async (settings: Parameters<typeof settingsFor>[1]) => {
    const report = await careConnector.probe?.(contextFor(settingsFor(fake.url, settings)));
    return report?.findings.map(({ name, status }) => `${name}: ${status}`);
  };
  expect(await statuses({})).toEqual([
    'sign-in: ok',
    'numbers: no_personal_number: ok',
    'care unit north: ok',
    'care unit north: booking: ok',
    'care unit south: ok',
    'care unit south: booking: ok',
  ]);
  expect(await statuses({ username: 'administrator', identifier_systems: { nhs_number: 'none' } })).toEqual([
    'sign-in: ok',
    'numbers: nhs_number: problem',
    'care unit north: ok',
    'care unit north: booking: problem',
    'care unit south: ok',
    'care unit south: booking: problem',
  ]);
  expect(fake.bookings.size).toBe(0);
});
