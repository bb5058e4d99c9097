import { randomUUID } from 'node:crypto';
import type { TimeSlot } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirAppointment, FhirResource, FhirSlot } from '../src/fhir.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { expireHold } from './expire-hold.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function start(options: FakeOptions = {}, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const http = plainHttp();
  const connector = await openConnector(settingsFor(server.url, settings), http);
  const slots = (await freeSlots(connector, 4)) as [TimeSlot, TimeSlot, TimeSlot, TimeSlot];
  const slotOf = ({ resourceId, start: from }: TimeSlot) =>
    server.store.get(`Slot/slot-${resourceId}-${from.getTime() / 60_000}`) as unknown as FhirSlot;
  const appointment = (id: string | undefined) => server.store.get(`Appointment/${id}`) as unknown as FhirAppointment;
  /** Changes an appointment directly in the EHR. The Slots do not change. */
  const atTheDesk = (id: string | undefined, change: object) =>
    void server.store.save({ ...appointment(id), ...change } as FhirResource);
  const starts = async (freeing: readonly string[] = []) =>
    (await freeSlots(connector, 4, 'r-1', freeing)).map((it) => it.start.getTime());
  return { server, http, connector, slots, slotOf, appointment, atTheDesk, starts };
}

/** Makes the claim of a slot expire a minute ago. */
function endClaim({ store }: FakeServer, slot: FhirSlot): void {
  const status = slot.status === 'busy' ? 'busy' : 'busy-tentative';
  const owner = claimOf(slot)?.owner ?? '';
  store.save(claimedSlot(slot, status, { owner, until: new Date(Date.now() - 60_000) }));
}

const modes = [
  ['transaction', {}],
  ['slot_claim', { transactions: 'none' }],
  ['slot_claim without _revinclude', { transactions: 'none', revIncludesAppointments: false }],
  ['slot_claim with two writes for each Slot', { transactions: 'none', searchesBySlot: false }],
] as const;

describe.each(modes)('in mode %s, a busy slot with our claim', (_, options) => {
  test.each(['cancelled', 'noshow', 'entered-in-error'])(
    'is free when staff make its appointment %s',
    async (status) => {
      const { connector, slots, slotOf, atTheDesk, starts } = await start(options);
      const [slot] = slots;
      const [made] = await write(connector, [creation(slot)]);
      atTheDesk(made?.id, { status });
      expect(await starts()).toContain(slot.start.getTime());
      expect(slotOf(slot)).toMatchObject({ status: 'free' });
      expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
    },
  );

  test('is booked without listing the slots first', async () => {
    const { connector, slots, atTheDesk } = await start(options);
    const [made] = await write(connector, [creation(slots[0])]);
    atTheDesk(made?.id, { status: 'cancelled' });
    const [again] = await write(connector, [creation(slots[0])]);
    expect(again?.id).not.toBe(made?.id);
    await expect(write(connector, [creation(slots[0])])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  });

  test('is free when staff delete its appointment', async () => {
    const { server, connector, slots, slotOf, starts } = await start(options);
    const [slot] = slots;
    const [made] = await write(connector, [creation(slot)]);
    server.store.remove(`Appointment/${made?.id}`);
    // Long ago, so that every search index is up to date.
    if (claimOf(slotOf(slot))?.until) endClaim(server, slotOf(slot));
    const { meta } = slotOf(slot);
    Object.assign(meta as object, { lastUpdated: new Date(Date.now() - 600_000).toISOString() });
    expect(await starts()).toContain(slot.start.getTime());
  });

  test('stays taken by an appointment that staff made in its place', async () => {
    const { server, connector, slots, appointment, atTheDesk, starts } = await start(options);
    const [slot] = slots;
    const [made] = await write(connector, [creation(slot)]);
    const { id: _id, identifier: _identifier, ...copy } = appointment(made?.id);
    server.store.save(copy as FhirResource);
    atTheDesk(made?.id, { status: 'cancelled' });
    expect(await starts()).not.toContain(slot.start.getTime());
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  });

  test('stays busy while the server cannot be searched', async () => {
    const { server, connector, slots, slotOf, atTheDesk, starts } = await start(options);
    const [slot] = slots;
    const [made] = await write(connector, [creation(slot)]);
    atTheDesk(made?.id, { status: 'cancelled' });
    server.misbehave = ({ path }) => (path.startsWith('/Appointment') ? { status: 503 } : undefined);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(starts()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(slotOf(slot).status).toBe('busy');
    server.misbehave = () => undefined;
    expect(await starts()).toContain(slot.start.getTime());
  });
});

describe.each([
  ...modes,
  ['a server that does not search by slot', { searchesBySlot: false, slotSearch: 'rejected' }],
] as const)('in mode %s, a slot in which staff have booked a second appointment', (_, options) => {
  /** Staff book it in the EHR for another patient, without a change of the Slot. */
  async function shared(holdUntil: Date | null = null) {
    const it = await start(options);
    const [slot] = it.slots;
    const [first] = await write(it.connector, [creation(slot, holdUntil)]);
    const { id: _id, identifier: _identifier, extension: _extension, ...copy } = it.appointment(first?.id);
    const second = it.server.store.save({ ...copy, status: 'booked' } as FhirResource);
    return { ...it, slot, first: first?.id ?? '', second: second.id ?? '' };
  }

  type Shared = Awaited<ReturnType<typeof shared>>;

  async function expectTaken({ connector, slot, slotOf, starts }: Shared) {
    expect(slotOf(slot).status).toBe('busy');
    expect(await starts()).not.toContain(slot.start.getTime());
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  }

  test('stays taken when the gateway cancels the first one, until the second one is cancelled', async () => {
    const it = await shared();
    await write(it.connector, [{ kind: 'cancel', appointmentId: it.first }]);
    await expectTaken(it);
    await write(it.connector, [{ kind: 'cancel', appointmentId: it.second }]);
    expect(it.slotOf(it.slot).status).toBe('free');
    expect(await write(it.connector, [creation(it.slot)])).toMatchObject([{ state: 'booked' }]);
  });

  test('stays taken when the gateway moves the first one away', async () => {
    const it = await shared();
    const { start: from, end } = it.slots[2];
    await write(it.connector, [{ kind: 'update', appointmentId: it.first, time: { start: from, end } }]);
    await expectTaken(it);
    expect(it.slotOf(it.slots[2]).status).toBe('busy');
  });

  test('stays taken when the hold of the first one is released', async () => {
    const it = await shared(new Date(Date.now() + 600_000));
    await write(it.connector, [{ kind: 'release', appointmentId: it.first }]);
    await expectTaken(it);
  });

  test('stays taken when the hold of the first one has expired', async () => {
    const it = await shared(new Date(Date.now() + 600_000));
    expireHold(it.server, it.first);
    expect(await it.starts()).not.toContain(it.slot.start.getTime());
    await expect(write(it.connector, [creation(it.slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    const late = write(it.connector, [{ kind: 'confirm', appointmentId: it.first }]);
    await expect(late).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    await write(it.connector, [{ kind: 'release', appointmentId: it.first }]);
    await expectTaken(it);
  });

  test('is not offered to the first one', async () => {
    const { connector, slot, first } = await shared();
    const query = { careUnit: north, start: slot.start, end: slot.end, resourceIds: ['r-1'], limit: 10 };
    expect(await connector.listTimeSlots?.({ ...query, freeing: [first] })).toEqual([]);
  });

  test('becomes free when one write cancels both', async () => {
    const { connector, slot, slotOf, first, second } = await shared();
    const changes = [first, second].map((appointmentId) => ({ kind: 'cancel', appointmentId }) as const);
    if (connector.capabilities.transactions) await write(connector, changes);
    else for (const change of changes) await write(connector, [change]);
    expect(slotOf(slot).status).toBe('free');
  });
});

const elsewhere = { start: '2031-02-03T08:00:00Z', end: '2031-02-03T08:30:00Z' };
const untimed = { start: undefined, end: undefined, minutesDuration: undefined };

describe.each(modes.slice(0, 2))('in mode %s, a free slot that an appointment of the staff names', (_, options) => {
  /** Staff make an appointment that names the slot, without a change of the Slot. */
  async function named(change: object) {
    const it = await start(options);
    const [slot, , other] = it.slots;
    const [model] = await write(it.connector, [creation(slot)]);
    const { id: _id, identifier: _identifier, ...copy } = it.appointment(model?.id);
    await write(it.connector, [{ kind: 'cancel', appointmentId: model?.id ?? '' }]);
    it.server.store.save({ ...copy, ...change } as FhirResource);
    return { ...it, slot, other };
  }

  const takingNone: readonly [string, object][] = [
    ['that is proposed and has no time', { status: 'proposed', ...untimed }],
    ['that is proposed at its time', { status: 'proposed' }],
    ['that is pending and has no time', { status: 'pending', ...untimed }],
    ['that is on a waiting list', { status: 'waitlist', ...untimed }],
    ['that was moved elsewhere', { status: 'booked', ...elsewhere }],
    ['that is pending and was moved elsewhere', { status: 'pending', ...elsewhere }],
    ['that is over', { status: 'fulfilled' }],
    ['whose patient did not come', { status: 'noshow' }],
  ];

  test.each(takingNone)('%s, is free again after a cancellation', async (_, change) => {
    const { connector, slot, slotOf, starts } = await named(change);
    const [made] = await write(connector, [creation(slot)]);
    await write(connector, [{ kind: 'cancel', appointmentId: made?.id ?? '' }]);
    expect(slotOf(slot)).toMatchObject({ status: 'free' });
    expect(claimOf(slotOf(slot))).toBeNull();
    expect(await starts()).toContain(slot.start.getTime());
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  });

  test('is free again after a release, a move and a cancellation by staff', async () => {
    const { connector, slot, other, slotOf, atTheDesk, starts } = await named({ status: 'proposed', ...untimed });
    const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
    await write(connector, [{ kind: 'release', appointmentId: held?.id ?? '' }]);
    expect(slotOf(slot).status).toBe('free');
    const [made] = await write(connector, [creation(slot)]);
    const time = { start: other.start, end: other.end };
    await write(connector, [{ kind: 'update', appointmentId: made?.id ?? '', time }]);
    expect(slotOf(slot).status).toBe('free');
    const [again] = await write(connector, [creation(slot)]);
    atTheDesk(again?.id, { status: 'cancelled' });
    expect(await starts()).toContain(slot.start.getTime());
    expect(slotOf(slot).status).toBe('free');
  });

  test.each([
    ['is booked', { status: 'booked' }],
    ['is booked and has no time', { status: 'booked', ...untimed }],
    ['has begun', { status: 'arrived' }],
    ['is pending', { status: 'pending' }],
  ])('stays taken after a cancellation if it %s', async (_, change) => {
    const { server, connector, slot, appointment, slotOf, starts } = await named({ status: 'proposed', ...untimed });
    const [made] = await write(connector, [creation(slot)]);
    const { id: _id, identifier: _identifier, ...copy } = appointment(made?.id);
    server.store.save({ ...copy, ...change } as FhirResource);
    await write(connector, [{ kind: 'cancel', appointmentId: made?.id ?? '' }]);
    expect(slotOf(slot).status).toBe('busy');
    expect(await starts()).not.toContain(slot.start.getTime());
  });

  test('stays with our appointment that staff set to proposed', async () => {
    const { connector, slots, slotOf, atTheDesk, starts } = await start(options);
    const [made] = await write(connector, [creation(slots[0])]);
    atTheDesk(made?.id, { status: 'proposed' });
    expect(await starts()).not.toContain(slots[0].start.getTime());
    expect(slotOf(slots[0]).status).toBe('busy');
  });
});

test('a slot that staff change after it was read is not freed', async () => {
  const { server, connector, slots, slotOf, appointment } = await start({ includesSlots: false });
  const [made] = await write(connector, [creation(slots[0])]);
  const { id: _id, identifier: _identifier, ...copy } = appointment(made?.id);
  let isBooked = false;
  server.misbehave = ({ method, path }) => {
    if (method !== 'POST' || path !== '/' || isBooked) return undefined;
    isBooked = true;
    server.store.save(copy as FhirResource);
    server.store.save({ ...slotOf(slots[0]) });
    return undefined;
  };
  await write(connector, [{ kind: 'cancel', appointmentId: made?.id ?? '' }]);
  expect(slotOf(slots[0]).status).toBe('busy');
  expect(appointment(made?.id).status).toBe('cancelled');
});

test('listing slots is one request if there is nothing to clean up', async () => {
  const { server, connector, slots } = await start();
  await write(connector, [creation(slots[0])]);
  server.seen.splice(0);
  await connector.listTimeSlots?.({
    careUnit: north,
    start: slots[0].start,
    end: slots[3].end,
    resourceIds: ['r-1'],
    limit: 10,
  });
  expect(server.seen.map(({ path }) => path)).toEqual(['/Slot']);
});

describe.each([
  ['a tentative', false],
  ['a busy', true],
] as const)('in slot_claim, %s slot', (_, searchesBySlot) => {
  test('is freed after its write was interrupted before the appointment', async () => {
    const { server, http, connector, slots, slotOf } = await start({ transactions: 'none', searchesBySlot });
    const [slot] = slots;
    server.misbehave = ({ method, path }) => {
      if (method !== 'POST' || path !== '/Appointment') return undefined;
      http.cut();
      return 'cut_before';
    };
    await write(connector, [creation(slot)]).catch(() => undefined);
    server.misbehave = () => undefined;
    const second = await openConnector(settingsFor(server.url));
    const claimed = slotOf(slot);
    expect(claimed.status).toBe(searchesBySlot ? 'busy' : 'busy-tentative');
    // The claim has not expired, so its write may still be in progress.
    expect(await freeSlots(second, 4)).not.toContainEqual(slot);
    await expect(write(second, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(slotOf(slot)).toEqual(claimed);
    endClaim(server, slotOf(slot));
    expect((await freeSlots(second, 1))[0]).toEqual(slot);
    expect(slotOf(slot)).toMatchObject({ status: 'free' });
    expect(claimOf(slotOf(slot))).toBeNull();
  });
});

describe('in slot_claim, a tentative slot', () => {
  const options = { transactions: 'none', searchesBySlot: false } as const;

  describe.each([
    ['booking', null, 'busy'],
    ['hold', 600_000, 'busy-tentative'],
  ] as const)('of a %s that was interrupted after the appointment', (_, heldFor, status) => {
    async function interruptAfterAppointment() {
      const it = await start(options);
      const operationId = randomUUID();
      let isCreated = false;
      it.server.misbehave = ({ method, path }) => {
        isCreated ||= method === 'POST' && path === '/Appointment';
        if (!isCreated || method !== 'PUT') return undefined;
        it.http.cut();
        return 'cut_before';
      };
      const changes = [creation(it.slots[0], heldFor && new Date(Date.now() + heldFor))];
      await write(it.connector, changes, operationId).catch(() => undefined);
      it.server.misbehave = () => undefined;
      const [made] = it.server.store.all('Appointment');
      expect(it.slotOf(it.slots[0]).status).toBe('busy-tentative');
      const second = await openConnector(settingsFor(it.server.url));
      const expectFinished = () => {
        expect(it.slotOf(it.slots[0]).status).toBe(status);
        expect(claimOf(it.slotOf(it.slots[0]))?.owner).toBe(`Appointment/${made?.id}`);
      };
      return { ...it, second, operationId, expectFinished };
    }

    test('is finished by a look-up of the write', async () => {
      const { second, operationId, expectFinished } = await interruptAfterAppointment();
      expect(await second.findOperation?.(north, operationId)).toHaveLength(1);
      expectFinished();
    });

    test('is finished by a look-up after the server was unavailable', async () => {
      const { server, second, operationId, expectFinished } = await interruptAfterAppointment();
      server.misbehave = () => ({ status: 503 });
      await expect(second.findOperation?.(north, operationId)).rejects.toMatchObject({ kind: 'unavailable' });
      server.misbehave = ({ method }) => (method === 'PUT' ? { status: 503 } : undefined);
      expect(await second.findOperation?.(north, operationId)).toHaveLength(1);
      server.misbehave = () => undefined;
      expect(await second.findOperation?.(north, operationId)).toHaveLength(1);
      expectFinished();
    });

    test('is finished by a listing after its claim has expired', async () => {
      const { server, slots, slotOf, second, expectFinished } = await interruptAfterAppointment();
      // The claim of a hold's slot is final from the start.
      if (heldFor === null) endClaim(server, slotOf(slots[0]));
      expect(await freeSlots(second, 4)).not.toContainEqual(slots[0]);
      if (heldFor === null) expectFinished();
    });
  });
});

describe('in slot_claim, a hold whose confirmation was interrupted before the appointment', () => {
  test('is confirmed after the claim of the confirmation has ended', async () => {
    const { server, http, connector, slots, slotOf } = await start({ transactions: 'none', searchesBySlot: false });
    const [slot] = slots;
    const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
    const confirmation = { kind: 'confirm', appointmentId: held?.id ?? '' } as const;
    server.misbehave = ({ method, path }) => {
      if (method !== 'PUT' || !path.startsWith('/Appointment')) return undefined;
      http.cut();
      return 'cut_before';
    };
    await write(connector, [confirmation]).catch(() => undefined);
    server.misbehave = () => undefined;
    expect(slotOf(slot).status).toBe('busy-tentative');
    endClaim(server, slotOf(slot));
    const second = await openConnector(settingsFor(server.url));
    expect(await write(second, [confirmation])).toMatchObject([{ state: 'booked' }]);
    expect(slotOf(slot).status).toBe('busy');
  });
});

describe.each(modes)('in mode %s, a held appointment that staff book directly in the EHR', (_, options) => {
  test('has a busy slot when its code is entered later', async () => {
    const { connector, slots, slotOf, atTheDesk } = await start(options);
    const [held] = await write(connector, [creation(slots[0], new Date(Date.now() + 600_000))]);
    atTheDesk(held?.id, { status: 'booked' });
    const appointmentId = held?.id ?? '';
    expect(await write(connector, [{ kind: 'confirm', appointmentId }])).toMatchObject([{ state: 'booked' }]);
    expect(slotOf(slots[0]).status).toBe('busy');
  });

  test('has a busy slot when its code expires', async () => {
    const { server, connector, slots, slotOf, atTheDesk, starts } = await start(options);
    const [held] = await write(connector, [creation(slots[0], new Date(Date.now() + 600_000))]);
    expireHold(server, held?.id ?? '');
    atTheDesk(held?.id, { status: 'booked' });
    expect(await starts()).not.toContain(slots[0].start.getTime());
    expect(slotOf(slots[0]).status).toBe('busy');
  });
});

describe.each(modes)('in mode %s, an appointment that staff move without changing the slots', (_, options) => {
  async function moved(settings: Partial<FhirSettings>) {
    const it = await start(options, settings);
    const [from, to] = it.slots;
    const [made] = await write(it.connector, [creation(from)]);
    it.atTheDesk(made?.id, { start: to.start.toISOString(), end: to.end.toISOString() });
    return { ...it, from, to };
  }

  test('blocks its new time and frees its previous one, with check_appointments', async () => {
    const { connector, from, to, starts } = await moved({ slots: { check_appointments: true } });
    expect(await starts()).not.toContain(to.start.getTime());
    await expect(write(connector, [creation(to)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(await starts()).toContain(from.start.getTime());
    expect(await write(connector, [creation(from)])).toMatchObject([{ state: 'booked' }]);
  });

  test('blocks its time also when its Slot is taken out and another one is free then, with check_appointments', async () => {
    const { server, connector, slots, slotOf, starts } = await start(options, { slots: { check_appointments: true } });
    const [slot, other] = slots;
    await write(connector, [creation(slot)]);
    const [moving] = await write(connector, [creation(other)]);
    const taken = slotOf(slot);
    const { extension: _claim, ...free } = { ...taken, id: 'new', status: 'free' } as FhirSlot;
    server.store.save(free as FhirResource);
    server.store.save({ ...taken, status: 'busy-unavailable' } as FhirResource);
    expect(await starts()).not.toContain(slot.start.getTime());
    expect(await starts([moving?.id ?? ''])).not.toContain(slot.start.getTime());
  });

  test.each([
    ['whose participants cannot be read', { participant: { actor: 'Practitioner/r-1' } }],
    ['whose start cannot be read', { start: '2031-02-30T08:00:00Z' }],
    ['that has no id', { id: undefined }],
  ])('one %s may take the time, with check_appointments', async (_name, broken) => {
    const { server, connector, slots, appointment, starts } = await start(options, {
      slots: { check_appointments: true },
    });
    const [slot, other] = slots;
    const [made] = await write(connector, [creation(other)]);
    const resource = { ...appointment(made?.id), id: 'broken', ...broken };
    const body = { resourceType: 'Bundle', type: 'searchset', entry: [{ resource }] };
    server.misbehave = ({ path, query }) =>
      path === '/Appointment' && query.includes('actor=') ? { status: 200, body } : undefined;
    expect(await starts()).toContain(slot.start.getTime());
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'rejected' });
    server.misbehave = () => undefined;
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  });

  test('one without an end takes the time at its start, with check_appointments', async () => {
    const { server, connector, slots, appointment, starts } = await start(options, {
      slots: { check_appointments: true },
    });
    const [slot, other, third] = slots;
    const [made] = await write(connector, [creation(other)]);
    const { identifier: _identifier, slot: _slot, end: _end, ...copy } = appointment(made?.id);
    const time = { start: slot.start.toISOString(), minutesDuration: undefined };
    server.store.save({ ...copy, ...time, id: 'open', serviceType: undefined } as FhirResource);
    expect(await starts()).not.toContain(slot.start.getTime());
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(await write(connector, [creation(third)])).toMatchObject([{ state: 'booked' }]);
  });

  test('does not block its new time without check_appointments', async () => {
    const { connector, to } = await moved({});
    expect(await write(connector, [creation(to)])).toMatchObject([{ state: 'booked' }]);
  });

  test('can be moved by the gateway, with check_appointments', async () => {
    const { server, connector, to, slots, starts } = await moved({ slots: { check_appointments: true } });
    const [{ id: appointmentId = '' } = {}] = server.store.all('Appointment');
    const [, , third] = slots;
    const time = { start: third.start, end: third.end };
    expect(await write(connector, [{ kind: 'update', appointmentId, time }])).toMatchObject([{ ...time }]);
    expect(await starts()).toContain(to.start.getTime());
  });
});
