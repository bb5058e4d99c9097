/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  freeSlots,
  idsIn,
  isFree,
  nextMonth,
  pagesOf,
  type Slot,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  expireCode,
  incorrectCodes,
} from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => (emr.startsWith('no-hold') ? withoutHolds(connector) : connector))],
  configure: (demo) =>
    [
      { id: 'no-hold', like: 'sandbox-se', policies: {} },
      { id: 'no-hold-uk', like: 'sandbox-uk', policies: { booking_confirmation: 'code' as const } },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

describe('an EHR without holds', () => {
  const path = careUnitPath('no-hold', 'sodermalm');
  const careUnit = careUnitOf(gateway, path);
  const inEhr = async (patientId: string) =>
    (await gateway.ehr('no-hold').appointments()).filter((it) => it.patientId === patientId);

  test('gets a booking once the code is confirmed, and the id does not change', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const {
      status,
      headers,
      body: draft,
    } = await careUnit.create({
      ...creationBody(slot),
      patient_id: 'p-4',
      comment: 'old',
    });
    expect(status).toBe(201);
    expect(headers.location).toBe(`${path}/appointments/${draft.id}`);
    expect(draft).toMatchObject({
      status: 'awaiting_confirmation',
      ...at(slot),
      patient_id: 'emr_id:p-4',
      comment: 'old',
      confirmation: { kind: 'booking', channel: 'sms', attempts_remaining: 5 },
      replaces_id: null,
    });
    expect(await inEhr('p-4')).toEqual([]);
    const code = await codeFor(gateway, draft.id);
    expect(await careUnit.get(draft.id)).toMatchObject({ id: draft.id, status: 'awaiting_confirmation' });
    for (const query of ['patient_id=p-4', 'patient_id=p-4&status=awaiting_confirmation&resource_id=r-1']) {
      expect(idsIn(await careUnit.list(query))).toEqual([draft.id]);
    }
    expect(await careUnit.confirm(draft.id, incorrectCodes(code, 1)[0] ?? '')).toMatchObject({
      status: 400,
      body: { attempts_remaining: 4 },
    });
    const { body: booked } = await careUnit.confirm(draft.id, code);
    expect(booked).toEqual({ ...draft, status: 'booked', confirmation: null });
    const [row, ...more] = await inEhr('p-4');
    expect(row).toMatchObject({ state: 'booked' });
    expect(more).toEqual([]);
    expect(row?.id).not.toBe(draft.id);
    expect(await careUnit.get(draft.id)).toEqual(booked);
    expect(await isFree(gateway, slot, path)).toBe(false);
    const overlapping = new URLSearchParams(at(slot));
    for (const query of ['patient_id=p-4', 'patient_id=p-4&status=booked', `patient_id=p-4&${overlapping}`]) {
      expect(await careUnit.list(query)).toEqual([booked]);
    }
    expect(await careUnit.list('patient_id=p-4&status=awaiting_confirmation&status=cancelled')).toEqual([]);
  });

  test('accepts later changes by the draft id', async () => {
    const draft = await book(gateway, { careUnit: path, patientId: 'p-5' });
    const code = await codeFor(gateway, draft.id);
    const { body: booked } = await careUnit.confirm(draft.id, code);
    expect(await careUnit.confirm(draft.id, code)).toMatchObject({ status: 200, body: booked });
    expectProblem(await careUnit.confirm(draft.id, incorrectCodes(code, 1)[0] ?? ''), 409, 'confirmation_not_pending');

    const to = await freeSlot(gateway, { careUnit: path, resourceId: 'r-2' });
    const moved = { ...booked, ...at(to), resource_id: 'emr_id:r-2', comment: 'x' };
    expect(await careUnit.change(draft.id, { ...at(to), resource_id: 'r-2', comment: 'x' })).toMatchObject({
      status: 200,
      body: moved,
    });
    expect(await careUnit.changeMany([draft.id], { comment: 'y' })).toMatchObject({
      status: 200,
      body: { appointments: [{ ...moved, comment: 'y' }] },
    });
    const later = await freeSlot(gateway, { careUnit: path, resourceId: 'r-2', from: nextMonth() });
    expect(await careUnit.changeMany([draft.id], at(later))).toMatchObject({
      status: 200,
      body: { appointments: [{ id: draft.id, ...at(later) }] },
    });
    const { body: cancelled } = await careUnit.cancel(draft.id, { comment: 'z' });
    expect(cancelled).toEqual({ ...moved, ...at(later), status: 'cancelled', comment: 'z' });
    expect(await careUnit.get(draft.id)).toEqual(cancelled);
    expect(await careUnit.list('patient_id=p-5')).toEqual([cancelled]);
    expect(await careUnit.confirm(draft.id, code)).toMatchObject({ status: 200, body: cancelled });
    expect(await inEhr('p-5')).toHaveLength(1);
  });

  test('lets only the client that created a draft confirm it or resend its code; any client can release it', async () => {
    const theirs = careUnitOf(gateway, path, 'appointments:write');
    const draft = await book(gateway, { careUnit: path, patientId: 'p-7' });
    const other = await book(gateway, { careUnit: path, patientId: 'p-7' });
    const code = await codeFor(gateway, draft.id);
    await backdateCode(gateway, confirmationOf(draft).id, 31);
    for (const any of [code, ...incorrectCodes(code, 1)]) {
      expectProblem(await theirs.confirm(draft.id, any), 409, 'confirmation_not_pending');
    }
    expectProblem(await theirs.resend(draft.id), 409, 'confirmation_not_pending');
    expect(confirmationOf(await careUnit.get(draft.id)).attempts_remaining).toBe(5);
    expect(await inEhr('p-7')).toEqual([]);
    expect(await theirs.cancel(other.id)).toMatchObject({ status: 200, body: { id: other.id, status: 'cancelled' } });
    expect(await careUnit.confirm(draft.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    expectProblem(await theirs.confirm(draft.id, code), 409, 'confirmation_not_pending');
  });

  test('responds 400 and cancels the draft if the time is taken when the code is entered', async () => {
    const slot = await freeSlot(gateway, { careUnit: path, resourceId: 'r-3' });
    const [draft, faster] = [
      await book(gateway, { careUnit: path, slot, patientId: 'p-6' }),
      await book(gateway, { careUnit: path, slot, patientId: 'p-7' }),
    ];
    const code = await codeFor(gateway, draft.id);
    expect(await careUnit.confirm(faster.id, await codeFor(gateway, faster.id))).toMatchObject({ status: 200 });
    expectProblem(await careUnit.confirm(draft.id, code), 400, 'time_slot_unavailable');
    const gone = { ...draft, status: 'cancelled', confirmation: null };
    expect(await careUnit.get(draft.id)).toEqual(gone);
    expect(await careUnit.list('patient_id=p-6')).toEqual([gone]);
    expectProblem(await careUnit.confirm(draft.id, code), 409, 'confirmation_not_pending');
    expect(await careUnit.cancel(draft.id)).toMatchObject({ status: 200, body: gone });
    expect(await inEhr('p-6')).toEqual([]);
    expect(await careUnit.get(faster.id)).toMatchObject({ status: 'booked' });
  });

  test('rejects a draft at a time that is taken', async () => {
    const booked = await bookByCode(gateway, { careUnit: path });
    const rejected = await careUnit.create(creationBody({ ...booked }));
    expectProblem(rejected, 400, 'time_slot_unavailable');
    expect(rejected.body.errors).toMatchObject([{ pointer: '/start_time' }]);
    const withoutContact = { ...creationBody(await freeSlot(gateway, { careUnit: path })), patient_id: 'p-20' };
    expectProblem(await careUnit.create(withoutContact), 409, 'no_contact_channel');
  });

  test('never gets a draft that was released or has expired', async () => {
    const draft = await book(gateway, { careUnit: path, patientId: 'p-8', comment: 'old' });
    const code = await codeFor(gateway, draft.id);
    const { body: given } = await careUnit.cancel(draft.id, { comment: 'why' });
    expect(given).toEqual({ ...draft, status: 'cancelled', comment: 'why', confirmation: null });
    expect(await careUnit.get(draft.id)).toEqual(given);
    expectProblem(await careUnit.confirm(draft.id, code), 409, 'confirmation_not_pending');
    expectProblem(await careUnit.change(draft.id, { comment: 'x' }), 409, 'appointment_cancelled');

    const late = await book(gateway, { careUnit: path, patientId: 'p-8' });
    const lateCode = await codeFor(gateway, late.id);
    expectProblem(await careUnit.change(late.id, { comment: 'x' }), 409, 'appointment_awaiting_confirmation');
    await expireCode(gateway, late);
    expect(await careUnit.get(late.id)).toEqual({ ...late, status: 'cancelled', confirmation: null });
    expectProblem(await careUnit.confirm(late.id, lateCode), 409, 'confirmation_expired');
    expectProblem(await careUnit.resend(late.id), 409, 'confirmation_expired');
    expect(new Set(idsIn(await careUnit.list('patient_id=p-8&status=cancelled')))).toEqual(
      new Set([draft.id, late.id]),
    );
    expect(await careUnit.list('patient_id=p-8&status=awaiting_confirmation&status=booked')).toEqual([]);
    expect(await inEhr('p-8')).toEqual([]);
  });

  test('accepts a resent code for a draft', async () => {
    const draft = await book(gateway, { careUnit: path });
    await codeFor(gateway, draft.id);
    await backdateCode(gateway, confirmationOf(draft).id, 31);
    expect(await careUnit.resend(draft.id)).toMatchObject({ status: 202, body: { id: draft.id } });
    expect(await careUnit.confirm(draft.id, await codeFor(gateway, draft.id, 2))).toMatchObject({
      status: 200,
      body: { id: draft.id, status: 'booked' },
    });
  });

  test('lists drafts and bookings page by page, by start and id, each once', async () => {
    const patientId = 'p-9';
    // Nothing else is booked this late in the day.
    const from = new Date(Date.now() + 40 * 86_400_000);
    const all: Appointment[] = [];
    // All resources at each time: some drafts, some booked, some cancelled.
    const times = await freeSlots(gateway, { careUnit: path, from, limit: 3 });
    for (const [index, time] of times.entries()) {
      for (const [step, resource] of ['r-1', 'r-2', 'r-3', 'r-4'].entries()) {
        const slot = { ...time, resource_id: `emr_id:${resource}` };
        const draft = await book(gateway, { careUnit: path, slot, patientId });
        if (step === 3) await careUnit.cancel(draft.id);
        else if ((index + step) % 3 !== 0) await careUnit.confirm(draft.id, await codeFor(gateway, draft.id));
        all.push(await careUnit.get(draft.id));
      }
    }
    all.sort((a, b) => Date.parse(a.start) - Date.parse(b.start) || (a.id < b.id ? -1 : 1));
    const statuses = all.map((it) => [it.id, it.status]);
    const range = new URLSearchParams({ start: from.toISOString(), end: times.at(-1)?.end ?? '' }).toString();
    for (const query of [`patient_id=${patientId}`, range, `patient_id=${patientId}&${range}`]) {
      for (const limit of [1, 2, 5, 100]) {
        const pages = await pagesOf<Appointment>(
          gateway,
          `${path}/appointments?${query}&limit=${limit}`,
          'appointments',
        );
        expect(pages.flat().map((it) => [it.id, it.status])).toEqual(statuses);
        expect(pages.every((page) => page.length <= limit)).toBe(true);
      }
    }
    for (const status of ['booked', 'awaiting_confirmation', 'cancelled']) {
      for (const resource of ['r-1', 'r-2', 'r-4']) {
        const query = `patient_id=${patientId}&resource_id=${resource}&${range}&status=${status}&limit=1`;
        const pages = await pagesOf<Appointment>(gateway, `${path}/appointments?${query}`, 'appointments');
        const expected = all.filter((it) => it.status === status && it.resource_id === `emr_id:${resource}`);
        expect(idsIn(pages.flat())).toEqual(idsIn(expected));
      }
    }
  });

  test('confirms all or some of the drafts that await one code', async () => {
    const slots = await consecutiveSlots(gateway, 4, { careUnit: path, resourceId: 'r-4' });
    const [first, , , last] = slots as [Slot, Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { careUnit: path, slot: first, patientId: 'p-10' });
    const { body } = await careUnit.changeMany([mine.id], { start: first.start, end: last.end });
    const [kept, ...drafts] = body.appointments as [Appointment, Appointment, Appointment, Appointment];
    expect(kept).toEqual(mine);
    const [a, b, c] = drafts as [Appointment, Appointment, Appointment];
    expect(new Set(drafts.map((it) => confirmationOf(it).id)).size).toBe(1);
    const code = await codeFor(gateway, a.id);
    const booked = (it: Appointment) => ({ ...it, status: 'booked', confirmation: null });
    expect(await careUnit.confirm(b.id, code)).toMatchObject({ status: 200, body: booked(b) });
    expect(await careUnit.confirmMany([c.id, b.id, a.id], code)).toMatchObject({
      status: 200,
      body: { appointments: [booked(c), booked(b), booked(a)] },
    });
    expect(await careUnit.confirmMany([a.id, b.id, c.id], code)).toMatchObject({
      status: 200,
      body: { appointments: [booked(a), booked(b), booked(c)] },
    });
    expect(await careUnit.list('patient_id=p-10')).toEqual([kept, booked(a), booked(b), booked(c)]);
    expect(await inEhr('p-10')).toHaveLength(4);
  });

  test('supports dry runs', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const look = () => careUnit.create(creationBody(slot), '?dry_run=true');
    expect(await look()).toMatchObject({
      status: 200,
      body: {
        id: null,
        status: 'awaiting_confirmation',
        change: 'created',
        confirmation: { id: null, expires_at: null, delivery: null, attempts_remaining: 5 },
      },
    });
    await bookByCode(gateway, { careUnit: path, slot });
    expectProblem(await look(), 400, 'time_slot_unavailable');
  });

  test('cancels a booked draft in two steps by the draft id', async () => {
    const there = careUnitPath('no-hold-uk', 'riverside');
    const { get, cancel, confirm, list } = careUnitOf(gateway, there);
    const booked = await bookByCode(gateway, { careUnit: there, patientId: 'p-4' });
    const { body: view } = await cancel(booked.id, { comment: 'why' });
    expect(view).toMatchObject({ status: 'awaiting_confirmation', replaces_id: booked.id });
    expect((await cancel(booked.id)).body.id).toBe(view.id);
    expect(await get(booked.id)).toEqual(booked);
    expect(await list('patient_id=p-4')).toEqual([booked]);
    const code = await codeFor(gateway, view.id);
    expectProblem(await confirm(booked.id, code), 409, 'confirmation_not_pending');
    expect(await confirm(view.id, code)).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'cancelled', replaces_id: booked.id },
    });
    expect(await get(booked.id)).toEqual({ ...booked, status: 'cancelled', comment: 'why' });
    expect(idsIn(await list('patient_id=p-4'))).toEqual([booked.id]);
  });
});
