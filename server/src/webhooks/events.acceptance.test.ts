import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  bergen,
  book,
  consecutiveSlots,
  freeSlot,
  oslo,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  eventually,
  expireCode,
  rowsOf,
  runBackgroundJobs,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { type EventPage, eventsAbout, expectEvents, readEvents } from '../../../test/requests/events.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { watchAvailability } from '../background/ehr-availability.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import type { NewEvent } from '../events/new-event.ts';
import { deleteOldEvents } from '../events/retention.ts';
import { type Changed, eventsText, withEvents, writeEvents } from '../events/write-events.ts';

// Only the gateway's own events: changes that staff make are not read.
const gateway = await startGateway({
  intervals: { events: 100 },
  configure: (demo) => ({
    ...demo,
    emrs: demo.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, changes_seconds: 0 } })),
  }),
});
afterAll(() => gateway.close());
const { db } = gateway.deps.services;
const { send } = keysOf(gateway);

const timesOf = ({ start, end, resource_id }: Appointment) => ({ start, end, resource_id });

const eventAbout = (subject: string, type: NewEvent['type'] = 'appointment.booked'): NewEvent => ({
  type,
  emr: 'sandbox-no',
  careUnitId: 'oslo-sentrum',
  subject,
  data: {
    appointment_id: subject,
    cancellation_id: null,
    status: 'booked',
    start: null,
    end: null,
    resource_id: null,
    healthcare_service_id: null,
  },
});

describe('an event reports', { tags: 'every-ehr' }, () => {
  test('a booking, a move and a cancellation, in order', async () => {
    const { change, cancel } = careUnitOf(gateway, oslo);
    const booked = await book(gateway);
    const slot = await freeSlot(gateway);
    const { body: moved } = await change(booked.id, { ...at(slot), comment: 'brings a friend' });
    await cancel(booked.id);
    const about = { appointment_id: booked.id, cancellation_id: null, healthcare_service_id: 'consultation' };
    expect(await eventsAbout(gateway, booked.id, 3)).toMatchObject([
      { type: 'appointment.booked', data: { ...about, ...timesOf(booked), status: 'booked' } },
      {
        type: 'appointment.updated',
        data: {
          ...about,
          ...timesOf(moved),
          status: 'booked',
          changed: ['start', 'end', 'comment'],
          previous: timesOf(booked),
        },
      },
      { type: 'appointment.cancelled', data: { ...about, ...timesOf(moved), status: 'cancelled' } },
    ]);
  });

  test('a booking that awaits its code, and its confirmation', async () => {
    const { id } = await bookByCode(gateway);
    expect(await eventsAbout(gateway, id, 2)).toMatchObject([
      { type: 'appointment.awaiting_confirmation', emr: 'sandbox-se', data: { status: 'awaiting_confirmation' } },
      { type: 'appointment.booked', data: { status: 'booked', cancellation_id: null } },
    ]);
  });

  test('a cancellation that awaits its code, about the original', async () => {
    const { original, view } = await startCancellation(gateway);
    const { confirm } = careUnitOf(gateway, `/api/emrs/${original.emr}/care-units/${original.care_unit_id}`);
    await confirm(view.id, await codeFor(gateway, view.id));
    expect(await eventsAbout(gateway, original.id, 3)).toMatchObject([
      { type: 'appointment.booked', data: { cancellation_id: null } },
      { type: 'appointment.awaiting_confirmation', data: { status: 'booked', cancellation_id: view.id } },
      { type: 'appointment.cancelled', data: { status: 'cancelled', cancellation_id: view.id } },
    ]);
  });

  test('a code that expired, once', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    await expireCode(gateway, held);
    await runBackgroundJobs(gateway);
    await runBackgroundJobs(gateway);
    const events = await eventsAbout(gateway, held.id, 2);
    expect(events).toMatchObject([
      { type: 'appointment.awaiting_confirmation' },
      {
        type: 'appointment.confirmation_expired',
        emr: 'sandbox-se',
        care_unit_id: 'sodermalm',
        data: { status: 'cancelled', cancellation_id: null, start: null },
      },
    ]);
  });

  test('every appointment of a bulk update', async () => {
    const slots = await consecutiveSlots(gateway, 2);
    const booked: Appointment[] = [];
    for (const slot of slots) booked.push(await book(gateway, { slot }));
    const { changeMany } = careUnitOf(gateway, oslo);
    const { status } = await changeMany(
      booked.map(({ id }) => id),
      { comment: 'both' },
    );
    expect(status).toBe(200);
    for (const { id } of booked) {
      expect(await eventsAbout(gateway, id, 2)).toMatchObject([
        { type: 'appointment.booked' },
        { type: 'appointment.updated', data: { changed: ['comment'] } },
      ]);
    }
  });
});

test('a replayed response and a repeated cancellation write no event', async () => {
  const key = newKey();
  const request = creation(await freeSlot(gateway));
  const { body: booked } = await send(request, key);
  expect((await send(request, key)).headers['idempotency-replayed']).toBe('true');
  const { cancel } = careUnitOf(gateway, oslo);
  await cancel(booked.id);
  await cancel(booked.id);
  const last = await book(gateway);
  await eventsAbout(gateway, last.id, 1);
  const found = await eventsAbout(gateway, booked.id, 1);
  expect(found.map(({ type }) => type)).toEqual(['appointment.booked', 'appointment.cancelled']);
});

test('several cancellations at the same time write one event', async () => {
  const { cancel } = careUnitOf(gateway, oslo);
  const booked = await book(gateway);
  const all = await Promise.all([1, 2, 3, 4].map(() => cancel(booked.id)));
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await eventsAbout(gateway, (await book(gateway)).id, 1);
  await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
});

test('what is reported after a cancellation, but happened before it, is left out', async () => {
  const report = (type: 'appointment.booked' | 'appointment.cancelled') => writeEvents(db, [eventAbout('late', type)]);
  await report('appointment.cancelled');
  await report('appointment.booked');
  await report('appointment.cancelled');
  await eventsAbout(gateway, (await book(gateway)).id, 1);
  await expectEvents(gateway, 'late', ['cancelled']);
});

test('what was seen in the EHR before a cancellation is left out, and what follows a new booking is not', async () => {
  const report = (type: NewEvent['type'], isObserved = true) =>
    writeEvents(db, [{ ...eventAbout('seen', type), isObserved }]);
  await report('appointment.cancelled', false);
  await report('appointment.updated');
  await report('appointment.cancelled');
  await report('appointment.booked');
  await report('appointment.updated');
  await eventsAbout(gateway, (await book(gateway)).id, 1);
  await expectEvents(gateway, 'seen', ['cancelled', 'booked', 'updated']);
});

test('a booking that was seen in the EHR before its operation ended is reported once', async () => {
  const event = eventAbout('seen-first');
  await writeEvents(db, [{ ...event, isObserved: true }]);
  const began = sql<Changed>`SELECT '' AS id, now() - interval '1 hour' AS began_at`;
  await withEvents(began, eventsText([{ id: '', events: [event] }])).execute(db);
  await eventsAbout(gateway, (await book(gateway)).id, 1);
  await expectEvents(gateway, 'seen-first', ['booked']);
});

test('an appointment that staff book again after its cancellation has events again', async () => {
  const { cancel, change } = careUnitOf(gateway, oslo);
  const booked = await book(gateway);
  await cancel(booked.id);
  await expectEvents(gateway, booked.id, ['booked', 'cancelled']);
  await rowsOf(gateway, `UPDATE events SET occurred_at = occurred_at - interval '2 minutes' WHERE subject = $1`, [
    booked.id,
  ]);
  await rowsOf(gateway, `UPDATE sandbox.appointments SET state = 'booked' WHERE emr = 'sandbox-no' AND id = $1`, [
    booked.id,
  ]);
  expect((await change(booked.id, at(await freeSlot(gateway)))).status).toBe(200);
  await expectEvents(gateway, booked.id, ['booked', 'cancelled', 'updated']);
});

test('a dry run and a rejected booking write no event', async () => {
  const taken = await book(gateway);
  const { after } = await eventually(async () => {
    await eventsAbout(gateway, taken.id, 1);
    return readEvents(gateway);
  });
  const { create } = careUnitOf(gateway, oslo);
  const body = {
    patient_id: 'p-3',
    resource_id: taken.resource_id,
    healthcare_service_id: taken.healthcare_service_id,
    start_time: taken.start,
    end_time: taken.end,
  };
  expect((await create(body)).status).toBe(400);
  const { start, end } = await freeSlot(gateway);
  expect((await create({ ...body, start_time: start, end_time: end }, '?dry_run=true')).status).toBe(200);
  const next = await book(gateway);
  await eventsAbout(gateway, next.id, 1);
  const { events } = await readEvents(gateway, after);
  expect(events.map(({ data }) => data.appointment_id)).toEqual([next.id]);
});

describe('reading events', () => {
  test('rejects a position that no event has, as after the restore of a backup', async () => {
    await eventsAbout(gateway, (await book(gateway)).id, 1);
    const { after } = await readEvents(gateway);
    const moveBy = (count: number) =>
      rowsOf(gateway, `UPDATE event_positions SET position = position + $1 WHERE name = 'published'`, [count]);
    await moveBy(-1);
    const restored = await gateway.request<Problem>('GET', `/api/events?after=${encodeURIComponent(after)}`);
    expect(restored).toMatchObject({
      status: 400,
      body: { reason: 'cursor_invalid', errors: [{ parameter: 'after' }] },
    });
    await moveBy(1);
  });

  test('shows only care units that the client is granted', async () => {
    const [here, there] = [await book(gateway), await book(gateway, { careUnit: bergen, resourceId: 'r-6' })];
    await eventsAbout(gateway, there.id, 1);
    const { events } = await readEvents(gateway, undefined, 'narrowed');
    const ids = events.map(({ data }) => data.appointment_id);
    expect(ids).toContain(here.id);
    expect(ids).not.toContain(there.id);
    for (const { emr, care_unit_id } of events) {
      expect([emr, care_unit_id ?? 'oslo-sentrum']).toEqual(['sandbox-no', 'oslo-sentrum']);
    }
  });

  test('continues after the last event, also when there was none', async () => {
    const first = await book(gateway);
    await eventsAbout(gateway, first.id, 1);
    const { after } = await readEvents(gateway);
    const again = await readEvents(gateway, after);
    expect(again.events).toEqual([]);
    const second = await book(gateway);
    const { events } = await eventually(async () => {
      const found = await readEvents(gateway, again.after);
      if (found.events.length === 0) throw new Error('No event yet');
      return found;
    });
    expect(events.map(({ data }) => data.appointment_id)).toEqual([second.id]);
  });

  test('in pages gives the same events in the same order', async () => {
    for (let count = 0; count < 3; count++) await eventsAbout(gateway, (await book(gateway)).id, 1);
    const { events: all } = await readEvents(gateway);
    const paged: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await gateway.request<EventPage>('GET', `/api/events?limit=2${after}`);
      expect(body.events.length).toBeLessThanOrEqual(2);
      paged.push(...body.events.map(({ id }) => id));
      after = `&after=${encodeURIComponent(body.next_after)}`;
      if (!body.has_more) break;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
  });

  test("rejects another client's position, and one whose next events have been deleted", async () => {
    const first = await book(gateway);
    await eventsAbout(gateway, first.id, 1);
    const { body } = await gateway.request<EventPage>('GET', '/api/events?limit=1');
    const query = `/api/events?after=${encodeURIComponent(body.next_after)}`;
    const invalid = { reason: 'cursor_invalid', errors: [{ parameter: 'after' }] };
    expect((await gateway.request<Problem>('GET', query, { client: 'narrowed' })).body).toMatchObject(invalid);
    await rowsOf(gateway, `UPDATE events SET occurred_at = now() - interval '31 days' WHERE position IS NOT NULL`);
    await deleteOldEvents(db, 30, 1_000_000);
    expect((await gateway.request<Problem>('GET', query)).body).toMatchObject(invalid);
  });
});

test('an event appears only after those of earlier commits, and none is lost to a transaction that commits late', async () => {
  if (gateway.database.kind === 'pglite') return;
  const written = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const late = db.transaction().execute(async (tx) => {
    await writeEvents(tx, [eventAbout('slow')]);
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  await db.transaction().execute((tx) => writeEvents(tx, [eventAbout('early')]));
  await eventsAbout(gateway, 'early', 1);
  const { after } = await readEvents(gateway);
  mayCommit.resolve();
  await late;
  await eventsAbout(gateway, 'slow', 1);
  const { events } = await readEvents(gateway, after);
  expect(events.map(({ data }) => data.appointment_id)).toContain('slow');
});

test('an EHR that fails is reported once by several gateways, and again when it has recovered', async () => {
  const health = { breaker: 'closed' as string, lastSuccessAt: null as Date | null };
  const ehr = { id: 'sandbox-uk', isOpen: true, health: () => health } as EhrConnection;
  const gateways = [1, 2, 3].map(() => watchAvailability(db));
  const look = () => Promise.all(gateways.map((watch) => watch(ehr)));
  // Neither available nor unavailable before the first call.
  await look();
  health.lastSuccessAt = new Date();
  for (const breaker of ['closed', 'open', 'half_open', 'closed']) {
    health.breaker = breaker;
    await look();
  }
  await eventually(async () => {
    expect(await rowsOf(gateway, 'SELECT FROM events WHERE position IS NULL')).toEqual([]);
  });
  const { events } = await readEvents(gateway);
  expect(events.filter(({ emr, care_unit_id }) => emr === 'sandbox-uk' && care_unit_id === null)).toMatchObject([
    { type: 'emr.unavailable', data: { status: 'unavailable' } },
    { type: 'emr.recovered', data: { status: 'available' } },
  ]);
});
