import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Appointment, book, creationBody, freeSlots, type Slot } from '../bookings.ts';
import { bookByCode, careUnitOf, codeFor, confirmationOf, messages, messagesAbout, wrongCodes } from '../codes.ts';
import {
  byCode,
  direct,
  type FhirGateway,
  fhirCounterparts,
  freeWithBoth,
  startFhirGateway,
  twoStep,
  withSecond,
} from '../fhir-gateway.ts';
import type { Problem, RequestOptions } from '../gateway.ts';

type Operations = ReturnType<typeof careUnitOf>;

const idsOf = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);
const refusal = (status: number, reason: string) => ({ status, body: { reason } });
const timesOf = ({ start, end }: Slot) => ({ start, end });

/** What the spec says of appointments, with a FHIR server behind `{emr}`. */
describe.each(fhirCounterparts)('over $name', (counterpart) => {
  let gateway: FhirGateway;
  let open: Operations;
  let coded: Operations;
  let guarded: Operations;
  beforeAll(async () => {
    gateway = await startFhirGateway(counterpart);
    open = careUnitOf(gateway, direct);
    coded = careUnitOf(gateway, byCode);
    guarded = careUnitOf(gateway, twoStep);
  });
  afterAll(() => gateway.close());

  async function bookEach(slots: readonly Slot[], careUnit = direct): Promise<Appointment[]> {
    const booked: Appointment[] = [];
    for (const slot of slots) booked.push(await book(gateway, { careUnit, slot }));
    return booked;
  }

  async function isFree({ start, resource_id }: Slot): Promise<boolean> {
    const from = new Date(start);
    const resourceId = resource_id.replace('emr_id:', '');
    const found = await freeSlots(gateway, { careUnit: direct, resourceId, from, days: 1, limit: 1 });
    return found[0]?.start === start;
  }

  const statusInEhr = async (id: string) => (await gateway.appointmentsInEhr()).find((it) => it.id === id)?.status;

  describe('states and transitions', () => {
    test('direct booking: Create Appointment → booked', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      const { status, body } = await open.create({ ...creationBody(slot), comment: 'First visit' });
      expect(status).toBe(201);
      expect(body).toMatchObject({ ...slot, status: 'booked', comment: 'First visit', confirmation: null });
      expect(await open.get(body.id)).toEqual(body);
      expect(await open.list('patient_id=p-3&status=booked')).toContainEqual(body);
      expect(await statusInEhr(body.id)).toBe('booked');
      expect(await isFree(slot)).toBe(false);
      expect(await open.create(creationBody(slot))).toMatchObject(refusal(400, 'time_slot_unavailable'));
      expect(await open.confirm(body.id, '123456')).toMatchObject(refusal(409, 'confirmation_not_pending'));
    });

    test('booking by code: Create Appointment → awaiting_confirmation → booked', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      const { status, body: awaiting } = await coded.create(creationBody(slot));
      expect(status).toBe(201);
      expect(awaiting).toMatchObject({ status: 'awaiting_confirmation', confirmation: { kind: 'booking' } });
      expect(await statusInEhr(awaiting.id)).toBe('pending');
      expect(await isFree(slot)).toBe(false);
      const [message] = await messagesAbout(gateway, awaiting.id);
      expect(message).toMatchObject({ channel: 'sms', to: '+46701740602' });

      const code = await codeFor(gateway, awaiting.id);
      const [wrong = ''] = wrongCodes(code, 1);
      expect(await coded.confirm(awaiting.id, wrong)).toMatchObject(refusal(400, 'confirmation_code_incorrect'));
      const { status: confirmed, body } = await coded.confirm(awaiting.id, code);
      expect(confirmed).toBe(200);
      expect(body).toEqual({ ...awaiting, status: 'booked', confirmation: null });
      expect(await coded.get(body.id)).toEqual(body);
      expect(await statusInEhr(body.id)).toBe('booked');
      expect(await isFree(slot)).toBe(false);
    });

    test('awaiting_confirmation (booking), PATCH with status = cancelled → cancelled, and its time is free', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      const { id } = await book(gateway, { careUnit: byCode, slot });
      expect(await coded.cancel(id)).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
      expect(await isFree(slot)).toBe(true);
    });

    test('direct cancel: PATCH with status = cancelled → cancelled', async () => {
      const [first, second] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      for (const [{ get, cancel }, booked, slot] of [
        [open, await book(gateway, { careUnit: direct, slot: first, comment: 'before' }), first],
        [coded, await bookByCode(gateway, { careUnit: byCode, slot: second, comment: 'before' }), second],
      ] as const) {
        const { status, body } = await cancel(booked.id, { comment: 'The patient is away' });
        expect(status).toBe(200);
        expect(body).toEqual({ ...booked, status: 'cancelled', comment: 'The patient is away' });
        expect(await get(booked.id)).toEqual(body);
        expect(await cancel(booked.id)).toMatchObject({ status: 200, body });
        expect(await statusInEhr(booked.id)).toBe('cancelled');
        expect(await isFree(slot)).toBe(true);
      }
    });

    test('two-step cancel: PATCH with status = cancelled → awaiting_confirmation under a NEW id → cancelled', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      const booked = await book(gateway, { careUnit: twoStep, slot });
      const { status, body: awaiting } = await guarded.cancel(booked.id, { comment: 'Feels better' });
      expect(status).toBe(200);
      expect(awaiting.id).not.toBe(booked.id);
      expect(awaiting).toMatchObject({ status: 'awaiting_confirmation', replaces_id: booked.id });
      expect(confirmationOf(awaiting)).toMatchObject({ kind: 'cancellation', channel: 'sms', attempts_remaining: 5 });
      expect(await guarded.get(booked.id)).toEqual(booked);

      const code = await codeFor(gateway, awaiting.id);
      expect(await guarded.confirm(booked.id, code)).toMatchObject(refusal(409, 'confirmation_not_pending'));
      const cancelled = { ...booked, status: 'cancelled', comment: 'Feels better' };
      const { status: confirmed, body } = await guarded.confirm(awaiting.id, code);
      expect(confirmed).toBe(200);
      expect(body).toEqual({ ...cancelled, id: awaiting.id, replaces_id: booked.id });
      expect(await guarded.get(booked.id)).toEqual(cancelled);
      expect(await statusInEhr(booked.id)).toBe('cancelled');
      expect(await isFree(slot)).toBe(true);
    });
  });

  describe('update', () => {
    test('only the fields to change are sent', async () => {
      const [slot, to] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      let expected = await book(gateway, { careUnit: direct, slot, comment: 'old' });
      const { id } = expected;
      for (const body of [{ comment: 'new' }, timesOf(to), { resource_id: 'r-2' }]) {
        expected = { ...expected, ...body, ...('resource_id' in body ? { resource_id: 'emr_id:r-2' } : {}) };
        expect(await open.change(id, body)).toMatchObject({ status: 200, body: expected });
        expect(await open.get(id)).toEqual(expected);
      }
      expect([await isFree(slot), await isFree(to), await isFree(withSecond(to))]).toEqual([true, true, false]);
    });

    test('start and end are sent together, and no status with them', async () => {
      const [slot, { start, end }] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      const before = await book(gateway, { careUnit: direct, slot });
      const wrong = [{ start }, { end, resource_id: 'r-2' }, { status: 'booked', start, end }, { status: 'booked' }];
      for (const body of wrong) {
        expect(await open.change(before.id, body)).toMatchObject(refusal(400, 'request_invalid'));
        expect(await open.changeMany([before.id], body)).toMatchObject(refusal(400, 'request_invalid'));
      }
      expect(await open.get(before.id)).toEqual(before);
    });

    test('with resource_id that resource must be free, at the new time or at the current one', async () => {
      const [first, second] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      await book(gateway, { careUnit: direct, slot: first });
      const mine = await book(gateway, { careUnit: direct, slot: withSecond(first) });
      for (const body of [{ resource_id: 'r-1' }, { resource_id: 'r-1', ...timesOf(first) }]) {
        expect(await open.change(mine.id, body)).toMatchObject(refusal(400, 'time_slot_unavailable'));
      }
      expect(await open.get(mine.id)).toEqual(mine);
      const moved = { ...mine, resource_id: 'emr_id:r-1', ...timesOf(second) };
      expect(await open.change(mine.id, { resource_id: 'r-1', ...timesOf(second) })).toMatchObject({
        status: 200,
        body: moved,
      });
      expect(await open.change(mine.id, { resource_id: 'r-2' })).toMatchObject({
        status: 200,
        body: { ...moved, resource_id: 'emr_id:r-2' },
      });
    });

    test('without resource_id the current resource must be free in the new range', async () => {
      const [first, second, third] = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const mine = await book(gateway, { careUnit: direct, slot: first });
      const other = await book(gateway, { careUnit: direct, slot: third });
      expect(await open.change(mine.id, timesOf(third))).toMatchObject(refusal(400, 'time_slot_unavailable'));
      // Its own time counts as free.
      const longer = { start: first.start, end: second.end };
      expect(await open.change(mine.id, longer)).toMatchObject({ status: 200, body: { ...mine, ...longer } });
      expect(await open.getAll([mine.id, other.id])).toEqual([{ ...mine, ...longer }, other]);
      expect(await isFree(second)).toBe(false);
    });

    test('a cancelled appointment takes no change', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      const { id } = await book(gateway, { careUnit: direct, slot });
      await open.cancel(id);
      expect(await open.change(id, { comment: 'x' })).toMatchObject(refusal(409, 'appointment_cancelled'));
    });
  });

  describe('many at once', () => {
    test('update: every id is moved to the resource, at the time that it has', async () => {
      const before = await bookEach(await freeWithBoth(gateway, 3));
      const { status, body } = await open.changeMany(idsOf(before), { resource_id: 'r-2' });
      expect(status).toBe(200);
      expect(body.appointments).toEqual(before.map((it) => ({ ...it, resource_id: 'emr_id:r-2' })));
      expect(await open.getAll(idsOf(before))).toEqual(body.appointments);
    });

    test('update: all or nothing when one time is not free', async () => {
      const slots = await freeWithBoth(gateway, 3);
      const before = await bookEach(slots);
      await book(gateway, { careUnit: direct, slot: withSecond(slots[1] as Slot) });
      const { status, body } = await open.changeMany(idsOf(before), { resource_id: 'r-2', comment: 'moved' });
      expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'time_slot_unavailable' });
      expect(body.errors.map(({ id }) => id)).toEqual([before[1]?.id]);
      expect(await open.getAll(idsOf(before))).toEqual(before);
    });

    test('update without a resource: the comment of every id', async () => {
      const before = await bookEach(await freeWithBoth(gateway, 2));
      const { body } = await open.changeMany(idsOf(before), { comment: 'Bring the letter' });
      expect(body.appointments).toEqual(before.map((it) => ({ ...it, comment: 'Bring the letter' })));
    });

    test('update: all or nothing when others book one of the times meanwhile', async () => {
      const slots = await freeWithBoth(gateway, 3);
      const before = await bookEach(slots);
      const [moved, ...bookings] = await Promise.all([
        open.changeMany(idsOf(before), { resource_id: 'r-2' }),
        ...Array.from({ length: 5 }, () => open.create(creationBody(withSecond(slots[2] as Slot)))),
      ]);
      const won = bookings.filter(({ status }) => status === 201);
      const isMoved = moved.status === 200;
      expect(won).toHaveLength(isMoved ? 0 : 1);
      if (!isMoved) expect(moved).toMatchObject(refusal(400, 'time_slot_unavailable'));
      const after = before.map((it) => (isMoved ? { ...it, resource_id: 'emr_id:r-2' } : it));
      expect(await open.getAll(idsOf(before))).toEqual(after);
      expect(await Promise.all(slots.map(isFree))).toEqual(slots.map(() => isMoved));
      const others = await Promise.all(slots.map((it) => isFree(withSecond(it))));
      expect(others).toEqual([!isMoved, !isMoved, false]);
    });

    test('cancel', async () => {
      const slots = await freeWithBoth(gateway, 3);
      const before = await bookEach(slots);
      const { status, body } = await open.changeMany(idsOf(before), { status: 'cancelled', comment: 'Closed' });
      expect(status).toBe(200);
      expect(body.appointments).toEqual(before.map((it) => ({ ...it, status: 'cancelled', comment: 'Closed' })));
      expect(await open.getAll(idsOf(before))).toEqual(body.appointments);
      expect(await Promise.all(slots.map(isFree))).toEqual([true, true, true]);
    });

    test('cancel in two steps: one code for all, and one request confirms them', async () => {
      const before = await bookEach(await freeWithBoth(gateway, 2), twoStep);
      const { body } = await guarded.changeMany(idsOf(before), { status: 'cancelled' });
      expect(new Set(body.appointments.map((it) => confirmationOf(it).id)).size).toBe(1);
      const ids = idsOf(body.appointments);
      const confirmed = await guarded.confirmMany(ids, await codeFor(gateway, ids[0] ?? ''));
      expect(confirmed.status).toBe(200);
      expect(confirmed.body.appointments).toEqual(
        before.map((it, index) => ({ ...it, id: ids[index], status: 'cancelled', replaces_id: it.id })),
      );
      expect(await guarded.getAll(idsOf(before))).toEqual(before.map((it) => ({ ...it, status: 'cancelled' })));
    });

    test('confirm bookings that share a code', async () => {
      const [first, second, third] = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const mine = await bookByCode(gateway, { careUnit: byCode, slot: first });
      const { body } = await coded.changeMany([mine.id], { start: first.start, end: third.end });
      const [kept, ...created] = body.appointments;
      expect(kept).toEqual(mine);
      expect(created.map((it) => [it.start, it.status])).toEqual([
        [second.start, 'awaiting_confirmation'],
        [third.start, 'awaiting_confirmation'],
      ]);
      expect(new Set(created.map((it) => confirmationOf(it).id)).size).toBe(1);
      const ids = idsOf(created);
      const confirmed = await coded.confirmMany(ids, await codeFor(gateway, ids[0] ?? ''));
      expect(confirmed.status).toBe(200);
      expect(confirmed.body.appointments).toEqual(
        created.map((it) => ({ ...it, status: 'booked', confirmation: null })),
      );
      expect(await coded.getAll(ids)).toEqual(confirmed.body.appointments);
    });
  });

  describe('continuous reschedule', () => {
    test('the ids must share patient and resource', async () => {
      const [first, second] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      const mine = await book(gateway, { careUnit: direct, slot: first });
      const others = [
        await book(gateway, { careUnit: direct, slot: second, patientId: 'p-5' }),
        await book(gateway, { careUnit: direct, slot: withSecond(first) }),
      ];
      for (const other of others) {
        const range = { start: first.start, end: second.end };
        expect(await open.changeMany([mine.id, other.id], range)).toMatchObject(refusal(400, 'appointments_not_alike'));
        expect(await open.getAll([mine.id, other.id])).toEqual([mine, other]);
      }
    });

    test('the ids are fitted into the free slots of the range', async () => {
      const slots = (await freeWithBoth(gateway, 4)) as [Slot, Slot, Slot, Slot];
      const before = await bookEach(slots.slice(0, 2));
      const { status, body } = await open.changeMany(idsOf(before), { start: slots[2].start, end: slots[3].end });
      expect(status).toBe(200);
      expect(body.appointments).toEqual(before.map((it, index) => ({ ...it, ...timesOf(slots[index + 2] as Slot) })));
      expect(await open.getAll(idsOf(before))).toEqual(body.appointments);
      expect(await Promise.all(slots.map(isFree))).toEqual([true, true, false, false]);
    });

    test('who stands on a slot of the range keeps it', async () => {
      const [first, second, third] = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const [one, two] = (await bookEach([first, second])) as [Appointment, Appointment];
      const { body } = await open.changeMany([one.id, two.id], { start: second.start, end: third.end });
      expect(body.appointments).toHaveLength(2);
      expect(body.appointments).toEqual(expect.arrayContaining([two, { ...one, ...timesOf(third) }]));
    });

    test('a range that is not free is refused', async () => {
      const [first, second, third] = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const mine = await book(gateway, { careUnit: direct, slot: first });
      await book(gateway, { careUnit: direct, slot: third });
      const range = { start: second.start, end: third.end };
      expect(await open.changeMany([mine.id], range)).toMatchObject(refusal(400, 'time_slot_unavailable'));
      expect(await open.get(mine.id)).toEqual(mine);
      expect(await isFree(second)).toBe(true);
    });

    test('a longer range creates appointments that are alike, a shorter one cancels the extra ones', async () => {
      const slots = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const [first, second, third] = slots;
      const mine = await book(gateway, { careUnit: direct, slot: first });
      const { body: longer } = await open.changeMany([mine.id], { start: first.start, end: third.end });
      const alike = (slot: Slot) => ({ ...mine, id: expect.any(String), ...timesOf(slot) });
      expect(longer.appointments).toEqual([mine, alike(second), alike(third)]);
      const ids = idsOf(longer.appointments);
      expect(new Set(ids).size).toBe(3);
      expect(await open.getAll(ids)).toEqual(longer.appointments);

      const { body: shorter } = await open.changeMany(ids, timesOf(first));
      expect(shorter.appointments.map(({ status }) => status)).toEqual(['booked', 'cancelled', 'cancelled']);
      expect(await open.getAll(ids)).toEqual(shorter.appointments);
      expect(await Promise.all(slots.map(isFree))).toEqual([false, true, true]);
    });
  });

  describe('dry run', () => {
    const dryRun = '?dry_run=true';

    test('tells what would happen, and changes nothing', async () => {
      const [first, second, third] = (await freeWithBoth(gateway, 3)) as [Slot, Slot, Slot];
      const mine = await book(gateway, { careUnit: direct, slot: first });
      const yours = await book(gateway, { careUnit: twoStep, slot: withSecond(first) });
      const before = [await gateway.appointmentsInEhr(), await messages(gateway)];
      const range = { start: first.start, end: third.end };

      const created = await open.create(creationBody(second), dryRun);
      expect(created).toMatchObject({ status: 200, body: { id: null, status: 'booked', change: 'created' } });
      const awaiting = await coded.create(creationBody(second), dryRun);
      expect(awaiting).toMatchObject({ status: 200, body: { status: 'awaiting_confirmation', change: 'created' } });
      const moved = await open.change(mine.id, timesOf(second), dryRun);
      expect(moved).toMatchObject({ status: 200, body: { id: mine.id, ...timesOf(second), change: 'moved' } });
      const cancelled = await guarded.change(yours.id, { status: 'cancelled' }, dryRun);
      expect(cancelled).toMatchObject({ status: 200, body: { status: 'awaiting_confirmation', change: 'cancelled' } });
      const rescheduled = await open.changeMany([mine.id], range, dryRun);
      expect(rescheduled.body.appointments).toMatchObject(['kept', 'created', 'created'].map((change) => ({ change })));

      expect([await gateway.appointmentsInEhr(), await messages(gateway)]).toEqual(before);
      expect(await Promise.all([first, second, third].map(isFree))).toEqual([false, true, true]);
    });

    test('refuses what would be refused', async () => {
      const [slot] = (await freeWithBoth(gateway)) as [Slot];
      await book(gateway, { careUnit: direct, slot });
      const { status, body } = await open.create(creationBody(slot), dryRun);
      expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'time_slot_unavailable' });
    });
  });

  describe('Idempotency-Key', () => {
    const send = (method: string, path: string, key: string, options: RequestOptions) =>
      gateway.request<Appointment & Problem>(method, `${direct}/appointments${path}`, {
        ...options,
        headers: { 'idempotency-key': key },
      });

    test('a repeated request is done once and answered the same', async () => {
      const [slot, to] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      const booked = await send('POST', '', 'booking', { body: creationBody(slot) });
      expect(booked.status).toBe(201);
      const before = (await gateway.appointmentsInEhr()).length;
      const { id } = booked.body;
      const moved = await send('PATCH', `/${id}`, 'move', { body: timesOf(to) });
      expect(moved.status).toBe(200);
      const cancelled = await send('PATCH', '', 'cancel', { body: { ids: [id], status: 'cancelled' } });
      expect(cancelled.status).toBe(200);

      const again = [
        [booked, await send('POST', '', 'booking', { body: creationBody(slot) })],
        [moved, await send('PATCH', `/${id}`, 'move', { body: timesOf(to) })],
        [cancelled, await send('PATCH', '', 'cancel', { body: { ids: [id], status: 'cancelled' } })],
      ] as const;
      for (const [first, repeated] of again) {
        expect([repeated.status, repeated.text]).toEqual([first.status, first.text]);
        expect(first.headers['idempotency-replayed']).toBeUndefined();
        expect(repeated.headers['idempotency-replayed']).toBe('true');
      }
      expect(await gateway.appointmentsInEhr()).toHaveLength(before);
      expect(await isFree(slot)).toBe(true);
    });

    test('the key of another request is refused', async () => {
      const [first, second] = (await freeWithBoth(gateway, 2)) as [Slot, Slot];
      expect(await send('POST', '', 'once', { body: creationBody(first) })).toMatchObject({ status: 201 });
      expect(await send('POST', '', 'once', { body: creationBody(second) })).toMatchObject(
        refusal(422, 'idempotency_key_reused'),
      );
      expect(await isFree(second)).toBe(true);
    });
  });

  test.each([1, 2, 3])('of twenty who book one slot, one gets it, round %i', async () => {
    const [slot] = (await freeWithBoth(gateway)) as [Slot];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        open.create({ ...creationBody(slot), patient_id: `p-${(index % 6) + 1}` }),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    const lost = answers.filter(({ status }) => status !== 201);
    expect(lost.map(({ status, body }) => `${status} ${body.reason}`)).toEqual(
      Array.from({ length: 19 }, () => '400 time_slot_unavailable'),
    );
    const inEhr = await gateway.appointmentsInEhr();
    const standing = inEhr.filter(
      (it) => it.status === 'booked' && Date.parse(it.start ?? '') === Date.parse(slot.start),
    );
    expect(standing.map(({ id }) => id)).toEqual(won.map(({ body }) => body.id));
  });
});
