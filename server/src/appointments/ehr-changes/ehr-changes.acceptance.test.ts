/** @module-tag any-database */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { withTolerantBreakers, wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { at, bergen, book, freeSlot, oslo, sodermalm } from '../../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf, eventually, expireCode, rowsOf } from '../../../../test/requests/codes.ts';
import { eventsAbout, expectEvents } from '../../../../test/requests/events.ts';
import { expectProblem } from '../../../../test/requests/problems.ts';
import { advanceFeed, leaseFeed, releaseFeed } from './feed.ts';

const ehrs = faultyEhrs();
const gateway = await startGateway({
  intervals: { changes: 100, events: 100, gauges: 500 },
  connectors: [wrapConnector((connector, emr) => ehrs.faulty(connector, emr))],
  configure: (demo) => {
    const tolerant = withTolerantBreakers(demo);
    const emrs = tolerant.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, changes_seconds: 0.2 } }));
    return { ...tolerant, emrs };
  },
});
afterAll(() => gateway.close());
beforeEach(() => ehrs.reset());
const { db } = gateway.deps.services;
const norway = careUnitOf(gateway, oslo);

/** Waits until the changes of an EHR have been read from the start, so that a later change is seen. */
async function begun(emr: string): Promise<void> {
  await eventually(async () =>
    expect(
      await rowsOf(gateway, 'SELECT 1 FROM ehr_change_feeds WHERE emr = $1 AND cursor IS NOT NULL', [emr]),
    ).toHaveLength(1),
  );
}
beforeAll(async () => {
  for (const emr of ['sandbox-no', 'sandbox-se']) await begun(emr);
});

/** Waits until every change that was made before has been read and reported. */
async function settled(emr: string): Promise<void> {
  const [{ now } = { now: '' }] = await rowsOf<{ now: string }>(gateway, 'SELECT clock_timestamp()::text AS now');
  await eventually(async () => {
    const caughtUp = 'SELECT 1 FROM ehr_change_feeds WHERE emr = $1 AND caught_up_at > $2::timestamptz';
    expect(await rowsOf(gateway, caughtUp, [emr, now])).toHaveLength(1);
    expect(await rowsOf(gateway, 'SELECT 1 FROM ehr_changes WHERE emr = $1', [emr])).toEqual([]);
  });
}

describe('a change that staff make in the EHR', { tags: 'every-ehr' }, () => {
  test('is reported once: a move with the former time, and a cancellation', async () => {
    const booked = await book(gateway);
    await settled('sandbox-no');
    const ehr = gateway.ehr('sandbox-no');
    await ehr.moveBack(booked.id, 1);
    const [, moved] = await eventsAbout(gateway, booked.id, 2);
    const day = 24 * 60 * 60 * 1000;
    expect(moved).toMatchObject({
      type: 'appointment.updated',
      emr: 'sandbox-no',
      care_unit_id: 'oslo-sentrum',
      data: {
        appointment_id: booked.id,
        cancellation_id: null,
        status: 'booked',
        resource_id: booked.resource_id,
        changed: ['start', 'end'],
        previous: { start: booked.start, end: booked.end, resource_id: booked.resource_id },
      },
    });
    expect(Date.parse(String(moved?.data.start))).toBe(Date.parse(booked.start) - day);
    await ehr.cancel(booked.id);
    await eventsAbout(gateway, booked.id, 3);
    await settled('sandbox-no');
    await expectEvents(gateway, booked.id, ['booked', 'updated', 'cancelled']);
  });

  test('is reported once: attendance, with the former one, and a patient who did not come', async () => {
    const booked = await book(gateway);
    const missed = await book(gateway);
    await settled('sandbox-no');
    const ehr = gateway.ehr('sandbox-no');
    await ehr.attend(booked.id, 'arrived');
    await eventsAbout(gateway, booked.id, 2);
    expect(await norway.get(booked.id)).toEqual({ ...booked, attendance: 'arrived' });
    expectProblem(await norway.cancel(booked.id), 409, 'appointment_started');
    // The gateway's own write of an appointment whose attendance is known.
    await norway.change(booked.id, { comment: 'is early' });
    await eventsAbout(gateway, booked.id, 3);
    await ehr.attend(booked.id, 'completed');
    await ehr.attend(missed.id, 'no_show');
    const [, arrived, , completed] = await eventsAbout(gateway, booked.id, 4);
    const [, noShow] = await eventsAbout(gateway, missed.id, 3);
    expect(await norway.get(missed.id)).toEqual({ ...missed, status: 'cancelled', attendance: 'no_show' });
    const { id, start, end, resource_id, healthcare_service_id } = booked;
    expect(arrived).toMatchObject({ emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' });
    expect(arrived?.data).toEqual({
      appointment_id: id,
      cancellation_id: null,
      status: 'booked',
      ...{ start, end, resource_id, healthcare_service_id },
      attendance: 'arrived',
      previous_attendance: null,
    });
    expect(completed?.data).toMatchObject({ attendance: 'completed', previous_attendance: 'arrived' });
    expect(noShow?.data).toMatchObject({ status: 'cancelled', attendance: 'no_show', previous_attendance: null });
    await ehr.comment(booked.id, 'by staff');
    await ehr.comment(missed.id, 'by staff');
    await settled('sandbox-no');
    await expectEvents(gateway, id, ['booked', 'attendance_changed', 'updated', 'attendance_changed']);
    // The cancellation stays the last event of an appointment.
    await expectEvents(gateway, missed.id, ['booked', 'attendance_changed', 'cancelled']);
  });

  test('and that needs no event, gets none: a comment', async () => {
    const booked = await book(gateway);
    await gateway.ehr('sandbox-no').comment(booked.id, 'by staff');
    await settled('sandbox-no');
    await expectEvents(gateway, booked.id, ['booked']);
  });
});

test('a change that the gateway makes is reported once', { tags: 'every-ehr' }, async () => {
  const booked = await book(gateway);
  await norway.change(booked.id, { ...at(await freeSlot(gateway)), comment: 'moved' });
  await norway.cancel(booked.id);
  const confirmed = await bookByCode(gateway);
  const expired = await book(gateway, { careUnit: sodermalm });
  await expireCode(gateway, expired);
  await eventsAbout(gateway, expired.id, 2);
  for (const emr of ['sandbox-no', 'sandbox-se']) await settled(emr);
  await expectEvents(gateway, booked.id, ['booked', 'updated', 'cancelled']);
  await expectEvents(gateway, confirmed.id, ['awaiting_confirmation', 'booked']);
  await expectEvents(gateway, expired.id, ['awaiting_confirmation', 'confirmation_expired']);
});

test('a booking by staff is reported, and one that they made again after it was cancelled', async () => {
  const { id: like } = await book(gateway);
  await norway.cancel(like);
  const add = (id: string) =>
    rowsOf(
      gateway,
      `INSERT INTO sandbox.appointments (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
       SELECT emr, $2, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, 'booked'
       FROM sandbox.appointments WHERE emr = 'sandbox-no' AND id = $1`,
      [like, id],
    );
  await add('by-staff');
  const [event] = await eventsAbout(gateway, 'by-staff', 1);
  expect(event).toMatchObject({
    type: 'appointment.booked',
    data: { status: 'booked', healthcare_service_id: 'consultation' },
  });
  const set = (state: string) =>
    rowsOf(gateway, `UPDATE sandbox.appointments SET state = $1 WHERE emr = 'sandbox-no' AND id = 'by-staff'`, [state]);
  await set('cancelled');
  await eventsAbout(gateway, 'by-staff', 2);
  await set('booked');
  await eventsAbout(gateway, 'by-staff', 3);
  await norway.cancel('by-staff');
  await settled('sandbox-no');
  await expectEvents(gateway, 'by-staff', ['booked', 'cancelled', 'booked', 'cancelled']);
});

test('an appointment that staff move to another care unit is cancelled in the former one and booked in the other', async () => {
  const booked = await book(gateway);
  const other = await book(gateway, { careUnit: bergen, resourceId: 'r-6' });
  await careUnitOf(gateway, bergen).cancel(other.id);
  await settled('sandbox-no');
  await rowsOf(
    gateway,
    `UPDATE sandbox.appointments SET care_unit_id = there.care_unit_id, resource_id = there.resource_id,
       starts_at = there.starts_at, ends_at = there.ends_at
     FROM sandbox.appointments AS there
     WHERE appointments.emr = 'sandbox-no' AND appointments.id = $1 AND there.emr = appointments.emr AND there.id = $2`,
    [booked.id, other.id],
  );
  const events = await eventsAbout(gateway, booked.id, 3);
  await settled('sandbox-no');
  await expectEvents(gateway, booked.id, ['booked', 'cancelled', 'booked']);
  expect(events.map((it) => [it.care_unit_id, it.data.resource_id])).toEqual([
    ['oslo-sentrum', booked.resource_id],
    ['oslo-sentrum', booked.resource_id],
    ['bergen-nord', other.resource_id],
  ]);
  expect(JSON.stringify(events.at(-1))).not.toContain(booked.resource_id);
});

describe('a booking whose response was lost is reported once', () => {
  /** Books without a response, and waits until the booking was seen in the EHR. The gateway knows its outcome after `found`. */
  async function bookWithoutResponse() {
    const ehr = ehrs.of('sandbox-no');
    const found = Promise.withResolvers<void>();
    ehr.hang('findOperation', found.promise);
    ehr.loseResponse({ isDone: true });
    const slot = await freeSlot(gateway);
    const body = {
      patient_id: 'p-3',
      resource_id: slot.resource_id,
      healthcare_service_id: slot.healthcare_service_id,
      start_time: slot.start,
      end_time: slot.end,
    };
    expect((await norway.create(body)).status).toBe(504);
    const waiting = `SELECT appointment_id AS id FROM ehr_changes WHERE emr = $1 AND (views -> 0 ->> 'start')::timestamptz = $2`;
    const id = await eventually(async () => {
      const [change] = await rowsOf<{ id: string }>(gateway, waiting, ['sandbox-no', slot.start]);
      if (!change) throw new Error('Not seen yet');
      return change.id;
    });
    return { id, found: () => found.resolve() };
  }

  test('if it is seen in the EHR before the gateway knows its outcome', async () => {
    const { id, found } = await bookWithoutResponse();
    found();
    await eventsAbout(gateway, id, 1);
    await settled('sandbox-no');
    await expectEvents(gateway, id, ['booked']);
  });

  test('and so is its cancellation by staff before the gateway knows its outcome', async () => {
    const { id, found } = await bookWithoutResponse();
    await gateway.ehr('sandbox-no').cancel(id);
    found();
    const events = await eventsAbout(gateway, id, 2);
    expect(events.map(({ data }) => data.status)).toEqual(['booked', 'cancelled']);
    await settled('sandbox-no');
    await expectEvents(gateway, id, ['booked', 'cancelled']);
  });
});

test('a deletion is reported although an event of the appointment is newer than its reading', async () => {
  const { id: like } = await book(gateway);
  // As a feed that reports deletions would: the appointment does not exist any more.
  await rowsOf(
    gateway,
    `INSERT INTO ehr_changes (emr, appointment_id, views, is_new, read_at, stored_at, is_stale)
     SELECT emr, 'deleted', jsonb_build_array(jsonb_build_object('care_unit_id', care_unit_id, 'state', 'cancelled',
       'start', starts_at, 'end', ends_at, 'resource_id', resource_id, 'healthcare_service_id', healthcare_service_id)),
       false, now(), now(), true
     FROM sandbox.appointments WHERE emr = 'sandbox-no' AND id = $1`,
    [like],
  );
  await expectEvents(gateway, 'deleted', ['cancelled']);
  await settled('sandbox-no');
});

describe('a cancellation by staff', () => {
  /** Adds a write that background recovery takes up again in a day. Returns its id. */
  async function addOperation(state: 'pending' | 'done', careUnit = 'oslo-sentrum'): Promise<string> {
    const [row] = await rowsOf<{ id: string }>(
      gateway,
      `INSERT INTO operations (id, client_id, emr, care_unit_id, kind, state, sealed_plan, next_attempt_at, created_at)
       VALUES (gen_random_uuid(), 'test', 'sandbox-no', $2, 'appointments', $1, 'x', now() + interval '1 day',
         now() - interval '2 hours') RETURNING id`,
      [state, careUnit],
    );
    if (!row) throw new Error('The operation was not added');
    return row.id;
  }
  const removeOperation = (id: string) => rowsOf(gateway, 'DELETE FROM operations WHERE id = $1', [id]);

  test('waits neither for a monitored operation nor for one of another care unit', async () => {
    const booked = await book(gateway);
    const operations = [await addOperation('done'), await addOperation('pending', 'other')];
    await gateway.ehr('sandbox-no').cancel(booked.id);
    await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
    for (const id of operations) await removeOperation(id);
  });

  test('waits for an unfinished operation, which the metric shows, but not for long', async () => {
    const booked = await book(gateway);
    await settled('sandbox-no');
    const operation = await addOperation('pending');
    await gateway.ehr('sandbox-no').cancel(booked.id);
    const change = (set: string) =>
      eventually(async () => {
        const changed = `UPDATE ehr_changes SET ${set} WHERE appointment_id = $1 RETURNING 1`;
        expect(await rowsOf(gateway, changed, [booked.id])).toHaveLength(1);
      });
    await change("read_at = read_at - interval '1 hour', stored_at = stored_at - interval '1 minute'");
    await eventually(async () => {
      const { text } = await gateway.request('GET', '/metrics', { client: null });
      expect(text).toMatch(/crossward_ehr_changes_lag_seconds\{emr="sandbox-no"\} 3[67]\d\d/);
    });
    await expectEvents(gateway, booked.id, ['booked']);
    await change("read_at = read_at + interval '1 hour', stored_at = stored_at - interval '1 hour'");
    await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
    await removeOperation(operation);
  });
});

test('a cancellation by staff does not wait for long for an operation that is suspended while it confirms a code', async () => {
  const booked = await book(gateway, { careUnit: sodermalm });
  await settled('sandbox-se');
  const [operation] = await rowsOf<{ id: string }>(
    gateway,
    `INSERT INTO operations (id, client_id, emr, care_unit_id, kind, state, sealed_plan, suspended_at)
     VALUES (gen_random_uuid(), 'test', $1, $2, 'appointments', 'pending', 'x', now()) RETURNING id`,
    [booked.emr, booked.care_unit_id],
  );
  await rowsOf(
    gateway,
    `UPDATE confirmation_items SET state = 'confirming', operation_id = $1 WHERE ehr_appointment_id = $2`,
    [operation?.id, booked.id],
  );
  await gateway.ehr('sandbox-se').cancel(booked.id);
  await eventually(async () => {
    const aged = `UPDATE ehr_changes SET stored_at = stored_at - interval '1 hour' WHERE appointment_id = $1
      AND views @> '[{"state": "cancelled"}]' RETURNING 1`;
    expect(await rowsOf(gateway, aged, [booked.id])).toHaveLength(1);
  });
  await expectEvents(gateway, booked.id, ['awaiting_confirmation', 'cancelled']);
  await rowsOf(gateway, 'DELETE FROM operations WHERE id = $1', [operation?.id]);
});

test('changes during an outage of the EHR are reported after it, and the lag shows it meanwhile', async () => {
  const booked = await book(gateway);
  await settled('sandbox-no');
  const ehr = ehrs.of('sandbox-no');
  ehr.goDown();
  await gateway.ehr('sandbox-no').cancel(booked.id);
  await eventually(() => expect(ehr.rejectedCalls).toBeGreaterThan(1));
  await expectEvents(gateway, booked.id, ['booked']);
  await eventually(async () => {
    const { text } = await gateway.request('GET', '/metrics', { client: null });
    expect(text).toMatch(/crossward_ehr_changes_lag_seconds\{emr="sandbox-no"\} \d/);
  });
  ehr.comeUp();
  await eventsAbout(gateway, booked.id, 2);
  await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
});

test('an open transaction holds changes back, and the lag counts from the oldest of them', async () => {
  const booked = await book(gateway);
  await settled('sandbox-no');
  const transaction = await gateway.database.pool.connect();
  await transaction.query('BEGIN');
  await transaction.query('SELECT pg_current_xact_id()');
  await gateway.ehr('sandbox-no').cancel(booked.id);
  const isHeldBack = `
    SELECT 1 FROM ehr_change_feeds AS feed JOIN sandbox.appointments AS appointment USING (emr)
    WHERE appointment.id = $1 AND caught_up_at = date_trunc('milliseconds', changed_at)`;
  await eventually(async () => expect(await rowsOf(gateway, isHeldBack, [booked.id])).toHaveLength(1));
  await transaction.query('COMMIT');
  transaction.release();
  await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
});

test('a gateway that is killed while it reads loses nothing, and its late result is ignored', async () => {
  const other = { id: 'other', connector: 'sandbox' };
  const killed = await leaseFeed(db, other, 60);
  if (!killed) throw new Error('The lease was not free');
  expect(await leaseFeed(db, other, 60)).toBeUndefined();
  const advance = (lease: typeof killed, next: string) =>
    db.transaction().execute((tx) => advanceFeed(tx, lease, { next, hasMore: false, pauseSeconds: 60 }));
  await rowsOf(gateway, `UPDATE ehr_change_feeds SET next_read_at = now() WHERE emr = 'other'`);
  const next = await leaseFeed(db, other, 60);
  if (!next) throw new Error('The lease was not free');
  expect(next.cursor).toBe(killed.cursor);
  expect(await advance(killed, 'late')).toBe(false);
  expect(await advance(next, 'first')).toBe(true);
  await releaseFeed(db, killed, 0);
  expect(await leaseFeed(db, other, 60)).toBeUndefined();
});
