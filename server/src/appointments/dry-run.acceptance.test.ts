/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { roomId } from '../../../test/ehrs/under-test.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, confirmationOf, eventually } from '../../../test/requests/codes.ts';
import { patientHashes } from '../confirmations/items.ts';
import {
  dryRun,
  dryRunsOf,
  futureConfirmation,
  type Preview,
  type Previews,
  startForDryRuns,
} from './test-dry-runs.ts';

const gateway = await startForDryRuns();
afterAll(() => gateway.close());
const { send, everything, look, expectSameProblem, pastAppointment } = dryRunsOf(gateway);

describe('a dry run of Create', () => {
  test('shows a direct booking', async () => {
    const slot = await freeSlot(gateway);
    const body = { ...creationBody(slot), comment: 'x' };
    expect(await look<Preview>(oslo, 'POST', '', body)).toEqual({
      id: null,
      status: 'booked',
      start: slot.start,
      end: slot.end,
      comment: 'x',
      patient_id: 'emr_id:p-3',
      resource_id: slot.resource_id,
      healthcare_service_id: slot.healthcare_service_id,
      emr: 'sandbox-no',
      care_unit_id: 'oslo-sentrum',
      confirmation: null,
      replaces_id: null,
      supersedes_id: null,
      resource_name: null,
      attendance: null,
      modality: null,
      notice: null,
      change: 'created',
    });
    // The dry run does not hold the time, so it can be booked.
    expect((await send(oslo, 'POST', '', body, '?dry_run=false')).status).toBe(201);
  });

  test('shows a booking that would await a code', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    expect(await look<Preview>(sodermalm, 'POST', '', creationBody(slot))).toMatchObject({
      id: null,
      status: 'awaiting_confirmation',
      start: slot.start,
      confirmation: futureConfirmation('booking'),
      change: 'created',
    });
    expect(await look<Preview>(sodermalm, 'POST', '', { ...creationBody(slot), patient_id: 'p-19' })).toMatchObject({
      confirmation: futureConfirmation('booking', 'email'),
    });
  });

  test('is rejected like the request', async () => {
    const right = creationBody(await freeSlot(gateway));
    const taken = await book(gateway);
    const create = (body: object, status: number, reason: string, careUnit = oslo) =>
      expectSameProblem(careUnit, 'POST', '', body, { status, reason });
    await create(creationBody({ ...taken }), 400, 'time_slot_unavailable');
    await create({ ...right, patient_id: 'p-99' }, 400, 'patient_not_found');
    await create({ ...right, resource_id: 'r-9' }, 400, 'resource_not_found');
    await create({ ...right, resource_id: roomId('r-5') }, 400, 'time_slot_unavailable');
    await create({ ...right, healthcare_service_id: 'x' }, 400, 'healthcare_service_not_found');
    await create({ ...right, end_time: right.start_time }, 400, 'time_range_invalid');
    await create({ ...right, start_time: '2020-01-01T09:00:00' }, 400, 'time_range_invalid');
    await create({ ...right, unknown: 1 }, 400, 'request_invalid');
    const inSweden = creationBody(await freeSlot(gateway, { careUnit: sodermalm }));
    await create({ ...inSweden, patient_id: 'p-20' }, 409, 'no_contact_channel', sodermalm);
  });

  test('is rejected if the patient has too many unconfirmed bookings', async () => {
    const careUnit = careUnitPath('few-pending', 'sodermalm');
    await book(gateway, { careUnit });
    const body = creationBody(await freeSlot(gateway, { careUnit }));
    await expectSameProblem(careUnit, 'POST', '', body, { status: 429, reason: 'patient_limit_reached' });
  });

  test.each(['1', 'yes', '', 'TRUE', 'null'])('is requested with true or false, not with "%s"', async (value) => {
    const body = creationBody(await freeSlot(gateway));
    expect(await send(oslo, 'POST', '', body, `?dry_run=${value}`)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'dry_run' }] },
    });
  });
});

describe('a dry run of an update', () => {
  test('shows which appointments would be moved, updated and kept', async () => {
    const mine = await book(gateway, { comment: 'old' });
    const { start, end } = await freeSlot(gateway);
    const path = `/${mine.id}`;
    const show = (body: object) => look<Preview>(oslo, 'PATCH', path, body);
    expect(await show({ start, end, comment: 'new' })).toEqual({
      ...mine,
      start,
      end,
      comment: 'new',
      change: 'moved',
    });
    const other = await freeSlot(gateway, { resourceId: 'r-2' });
    const there = { start: other.start, end: other.end, resource_id: 'r-2' };
    expect(await show(there)).toMatchObject({ ...there, resource_id: 'emr_id:r-2', change: 'moved' });
    expect(await show({ comment: '' })).toEqual({ ...mine, comment: null, change: 'updated' });
    expect(await show({ comment: 'old' })).toEqual({ ...mine, change: 'kept' });
    expect(await show({ start: mine.start, end: mine.end })).toEqual({ ...mine, change: 'kept' });
    expect(await show({ resource_id: mine.resource_id })).toEqual({ ...mine, change: 'kept' });
    expect(await show({ start: mine.start, end: mine.end, comment: 'new' })).toMatchObject({ change: 'updated' });
  });

  test("treats the appointment's own time as free", async () => {
    const [first, second] = (await consecutiveSlots(gateway, 2, { resourceId: 'r-2' })) as [Slot, Slot];
    const mine = await book(gateway, { slot: first });
    const longer = { start: first.start, end: second.end };
    expect(await look<Preview>(oslo, 'PATCH', `/${mine.id}`, longer)).toEqual({ ...mine, ...longer, change: 'moved' });
  });

  test('shows the comment of a past appointment', async () => {
    const over = await pastAppointment();
    for (const body of [
      { comment: 'x' },
      { start: over.start, end: over.end, comment: 'x' },
      { resource_id: over.resource_id, comment: 'x' },
    ]) {
      const expected = { ...over, comment: 'x', change: 'updated' };
      expect(await look<Preview>(oslo, 'PATCH', `/${over.id}`, body)).toEqual(expected);
      expect(await look<Previews>(oslo, 'PATCH', '', { ids: [over.id], comment: 'x' })).toEqual({
        appointments: [expected],
      });
      expect(
        await look<Previews>(oslo, 'PATCH', '', { ids: [over.id], comment: 'x', resource_id: over.resource_id }),
      ).toEqual({ appointments: [expected] });
    }
    // The request returns the same.
    const { body } = await send<Appointment>(
      oslo,
      'PATCH',
      `/${over.id}`,
      { start: over.start, end: over.end, resource_id: over.resource_id, comment: 'x' },
      '',
    );
    expect(body).toEqual({ ...over, comment: 'x' });
  });

  test('is rejected like the request', async () => {
    const mine = await book(gateway);
    const taken = await book(gateway);
    const gone = await book(gateway);
    await careUnitOf(gateway, oslo).cancel(gone.id);
    const update = (id: string, body: object, status: number, reason: string, careUnit = oslo) =>
      expectSameProblem(careUnit, 'PATCH', `/${id}`, body, { status, reason });
    await update(mine.id, { start: taken.start, end: taken.end }, 400, 'time_slot_unavailable');
    await update(mine.id, { resource_id: roomId('r-5') }, 400, 'time_slot_unavailable');
    await update(mine.id, { resource_id: 'nobody' }, 400, 'resource_not_found');
    await update(mine.id, { start: mine.start }, 400, 'request_invalid');
    await update(mine.id, {}, 400, 'request_invalid');
    const past = { start: '2020-01-01T09:00:00', end: '2020-01-01T09:30:00' };
    await update(mine.id, past, 400, 'time_range_invalid');
    await update(gone.id, { comment: 'x' }, 409, 'appointment_cancelled');
    await update('nothing', { comment: 'x' }, 404, 'appointment_not_found');
    const held = await book(gateway, { careUnit: sodermalm });
    await update(held.id, { comment: 'x' }, 409, 'appointment_awaiting_confirmation', sodermalm);
  });
});

describe('a dry run of a cancellation', () => {
  test('shows a direct cancellation', async () => {
    const mine = await book(gateway, { comment: 'old' });
    expect(await look<Preview>(oslo, 'PATCH', `/${mine.id}`, { status: 'cancelled', comment: 'why' })).toEqual({
      ...mine,
      status: 'cancelled',
      comment: 'why',
      change: 'cancelled',
    });
    const { body } = await careUnitOf(gateway, oslo).cancel(mine.id);
    expect(await look<Preview>(oslo, 'PATCH', `/${mine.id}`, { status: 'cancelled', comment: 'why' })).toEqual({
      ...body,
      change: 'kept',
    });
  });

  test('shows a two-step cancellation', async () => {
    const mine = await book(gateway, { careUnit: riverside, comment: 'old' });
    const cancellation = { status: 'cancelled', comment: 'why' };
    expect(await look<Preview>(riverside, 'PATCH', `/${mine.id}`, cancellation)).toEqual({
      ...mine,
      id: null,
      status: 'awaiting_confirmation',
      confirmation: futureConfirmation('cancellation'),
      replaces_id: mine.id,
      change: 'cancelled',
    });
    // A second cancellation would return the first one's view.
    const { body: view } = await careUnitOf(gateway, riverside).cancel(mine.id);
    await codeFor(gateway, view.id);
    for (const id of [mine.id, view.id]) {
      expect(await look<Preview>(riverside, 'PATCH', `/${id}`, cancellation)).toEqual({
        ...view,
        confirmation: { ...confirmationOf(view), delivery: 'sent' },
        change: 'kept',
      });
    }
  });

  test('shows a hold that would be released', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    expect(await look<Preview>(sodermalm, 'PATCH', `/${held.id}`, { status: 'cancelled' })).toEqual({
      ...held,
      status: 'cancelled',
      confirmation: null,
      change: 'cancelled',
    });
  });

  test('is rejected like the request', async () => {
    const withoutContact = await book(gateway, { careUnit: riverside, patientId: 'p-20' });
    const cancel = { status: 'cancelled' };
    await expectSameProblem(riverside, 'PATCH', `/${withoutContact.id}`, cancel, {
      status: 409,
      reason: 'no_contact_channel',
    });
    await expectSameProblem(riverside, 'PATCH', '/nothing', cancel, { status: 404, reason: 'appointment_not_found' });
    await expectSameProblem(
      riverside,
      'PATCH',
      `/${withoutContact.id}`,
      { ...cancel, start: withoutContact.start, end: withoutContact.end },
      {
        status: 400,
        reason: 'request_invalid',
      },
    );
  });
});

test('a confirmation has no dry run', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  const code = await codeFor(gateway, held.id);
  const before = await everything();
  for (const [path, body] of [
    [`/${held.id}`, { confirmation: { code } }],
    ['', { ids: [held.id], confirmation: { code } }],
  ] as const) {
    expect(await send(sodermalm, 'PATCH', path, body, dryRun)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ parameter: 'dry_run' }] },
    });
  }
  expect(await everything()).toEqual(before);
  expect(confirmationOf(await careUnitOf(gateway, sodermalm).get(held.id)).attempts_remaining).toBe(5);
});

// PGlite has one connection, so nothing can wait for a lock.
if (gateway.database.kind === 'postgresql')
  test('dry runs for the same patients cause no deadlock', async () => {
    const patients = ['p-4', 'p-5', 'p-6'];
    const ids: string[] = [];
    for (const patientId of patients) ids.push((await book(gateway, { careUnit: riverside, patientId })).id);
    const { keys, db } = gateway.deps.services;
    const [hash] = patientHashes(keys, 'sandbox-uk', 'p-5');
    let responses: Promise<{ status: number }[]> | undefined;
    await db.transaction().execute(async (tx) => {
      // Both dry runs wait for the patient in the middle, and each holds the patient that the other one locks next.
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`patient ${hash.toString('hex')}`}, 0))`.execute(tx);
      const body = { status: 'cancelled' };
      responses = Promise.all(
        [ids, ids.toReversed()].map((order) => send(riverside, 'PATCH', '', { ids: order, ...body }, dryRun)),
      );
      await eventually(async () => {
        const { rows } = await sql`
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(tx);
        expect(rows).toHaveLength(2);
      });
    });
    expect((await responses)?.map(({ status }) => status)).toEqual([200, 200]);
  });

test('a dry run stores nothing under its idempotency key', async () => {
  const before = await everything();
  const body = creationBody(await freeSlot(gateway));
  const headers = { 'idempotency-key': 'only-looking' };
  for (let time = 0; time < 2; time++) {
    const response = await gateway.request('POST', `${oslo}/appointments${dryRun}`, { body, headers });
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('idempotency-replayed');
  }
  expect(await everything()).toEqual(before);
  expect((await gateway.request('POST', `${oslo}/appointments`, { body, headers })).status).toBe(201);
});
