import { Temporal } from 'temporal-polyfill';
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from './gateway/gateway.ts';
import { type Appointment, freeSlots, oslo, riverside, type Slot, sodermalm } from './requests/bookings.ts';
import { nextClockChange } from './requests/clock-change-days.ts';

/** Direct bookings in every EHR, and a resource with slots at night and on Sundays, when clocks change. */
const gateway = await startGateway({
  databaseKind: 'postgresql',
  configure: (configuration) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((careUnit) => ({
        ...careUnit,
        policies: { ...careUnit.policies, booking_confirmation: 'none' as const },
      })),
    })),
  }),
});
afterAll(() => gateway.close());

const client = await gateway.database.pool.connect();
await client.query(
  `UPDATE sandbox.schedules SET local_start = '2024-01-01T00:00:00', local_end = '2024-01-02T00:00:00',
     recurrence = 'FREQ=DAILY'
   WHERE resource_id = 'r-4' AND id LIKE '%morning'`,
);
await client.query(`DELETE FROM sandbox.schedules WHERE resource_id = 'r-4' AND id LIKE '%afternoon'`);
client.release();

const change = <Body = Appointment>(careUnit: string, id: string, body: object) =>
  gateway.request<Body>('PATCH', `${careUnit}/appointments/${id}`, { body });

const create = <Body = Appointment>(careUnit: string, start_time: string, end_time: string) =>
  gateway.request<Body>('POST', `${careUnit}/appointments`, {
    body: { patient_id: 'p-3', resource_id: 'r-4', healthcare_service_id: 'consultation', start_time, end_time },
  });

describe.each([
  ['Europe/Oslo', oslo],
  ['Europe/Stockholm', sodermalm],
  ['Europe/London', riverside],
])('in %s', (timeZone, careUnit) => {
  const nightOf = (date: Temporal.PlainDate) => ({
    start: date.toZonedDateTime(timeZone),
    end: date.add({ days: 1 }).toZonedDateTime(timeZone),
  });

  async function slotsOn(date: Temporal.PlainDate, resourceId = 'r-4'): Promise<readonly Slot[]> {
    const { start, end } = nightOf(date);
    const from = new Date(start.epochMilliseconds);
    const days = (end.epochMilliseconds - start.epochMilliseconds) / 86_400_000;
    return await freeSlots(gateway, { careUnit, resourceId, from, days, limit: 100 });
  }

  const expectReadsBack = async ({ id, start }: Appointment, instant: Temporal.Instant) => {
    const { body } = await gateway.request<Appointment>('GET', `${careUnit}/appointments/${id}`);
    expect(body.start).toBe(start);
    expect(Temporal.Instant.from(body.start).equals(instant)).toBe(true);
    expect(Temporal.Instant.from(body.start).toZonedDateTimeISO(timeZone).offset).toBe(body.start.slice(19));
  };

  describe.each([
    ['spring', 46],
    ['autumn', 50],
  ] as const)('when the clock is changed in %s', (season, halfHours) => {
    const { date, instant, offsetBefore, offsetAfter, from, until } = nextClockChange(timeZone, season);
    const at = (time: Temporal.PlainTime) => date.toPlainDateTime(time).toString({ smallestUnit: 'second' });

    test('slots are consecutive all day, each with the offset of its instant', async () => {
      const slots = await slotsOn(date);
      expect(slots).toHaveLength(halfHours);
      slots.forEach(({ start, end }, index) => {
        expect(Date.parse(end) - Date.parse(start)).toBe(30 * 60_000);
        if (index > 0) expect(start).toBe(slots[index - 1]?.end);
        const isBefore = Temporal.Instant.compare(Temporal.Instant.from(start), instant) < 0;
        expect(start.slice(19)).toBe(isBefore ? offsetBefore : offsetAfter);
      });
    });

    test('working days before and after start at 08:00 local time', async () => {
      const weekday = (days: number) => {
        let day = date.add({ days });
        while (day.dayOfWeek > 5) day = day.add({ days: Math.sign(days) });
        return day;
      };
      for (const [day, offset] of [
        [weekday(-1), offsetBefore],
        [weekday(1), offsetAfter],
      ] as const) {
        const [first] = await slotsOn(day, 'r-1');
        expect(first?.start).toBe(`${day}T08:00:00${offset}`);
      }
    });

    test('bookings before and after are read back with the right time', async () => {
      for (const [time, offset] of [
        [from.subtract({ minutes: 30 }), offsetBefore],
        [until, offsetAfter],
        [Temporal.PlainTime.from('09:00'), offsetAfter],
      ] as const) {
        const start = at(time);
        const end = time.add({ minutes: 30 });
        // In spring the last slot before the change ends at the local time after the skipped hour.
        const { status, body } = await create(
          careUnit,
          start,
          at(season === 'spring' && end.equals(from) ? until : end),
        );
        expect(status).toBe(201);
        expect(body.start).toBe(`${start}${offset}`);
        await expectReadsBack(body, Temporal.Instant.from(`${start}${offset}`));
      }
    });

    if (season === 'spring') {
      test('rejects a local time that the clock change skips', async () => {
        const skipped = at(from.add({ minutes: 30 }));
        const rejected = await create<Problem>(careUnit, skipped, at(until.add({ minutes: 30 })));
        const reason = 'local_time_nonexistent';
        expect(rejected).toMatchObject({ status: 400, body: { reason, errors: [{ pointer: '/start_time', reason }] } });
        expect(await create<Problem>(careUnit, at(from.subtract({ hours: 1 })), skipped)).toMatchObject({
          status: 400,
          body: { reason, errors: [{ pointer: '/end_time', reason }] },
        });
        const range = `start=${skipped}&end=${at(until.add({ hours: 3 }))}`;
        for (const path of [`timeslots?${range}`, `appointments?${range}`]) {
          expect(await gateway.request('GET', `${careUnit}/${path}`)).toMatchObject({
            status: 400,
            body: { reason, errors: [{ parameter: 'start', reason }] },
          });
        }
        const { body } = await create(careUnit, at(until.add({ hours: 2 })), at(until.add({ hours: 2, minutes: 30 })));
        expect(await change<Problem>(careUnit, body.id, { start: skipped, end: at(until) })).toMatchObject({
          status: 400,
          body: { reason, errors: [{ pointer: '/start', reason }] },
        });
        // With an offset it is an ordinary instant.
        const real = instant.subtract({ minutes: 60 });
        const end = instant.subtract({ minutes: 30 });
        const moved = await change(careUnit, body.id, { start: real.toString(), end: end.toString() });
        expect(moved.body).toMatchObject({ start: `${at(from.subtract({ hours: 1 }))}${offsetBefore}` });
        await expectReadsBack(moved.body, real);
      });
    } else {
      test('a repeated local time means the first occurrence; an offset selects the second', async () => {
        const start = at(from);
        const end = at(from.add({ minutes: 30 }));
        const { status, body } = await create(careUnit, start, end);
        expect(status).toBe(201);
        expect(body).toMatchObject({ start: `${start}${offsetBefore}`, end: `${end}${offsetBefore}` });
        await expectReadsBack(body, Temporal.Instant.from(`${start}${offsetBefore}`));

        const moved = await change(careUnit, body.id, { start: `${start}${offsetAfter}`, end: `${end}${offsetAfter}` });
        expect(moved.body).toMatchObject({ start: `${start}${offsetAfter}`, end: `${end}${offsetAfter}` });
        await expectReadsBack(moved.body, Temporal.Instant.from(`${start}${offsetAfter}`));

        const back = await change(careUnit, body.id, { start, end });
        expect(back.body.start).toBe(`${start}${offsetBefore}`);

        const second = await create(careUnit, `${end}${offsetAfter}`, `${at(until)}${offsetAfter}`);
        expect(second.status).toBe(201);
        expect(second.body).toMatchObject({ start: `${end}${offsetAfter}`, end: `${at(until)}${offsetAfter}` });
        await expectReadsBack(second.body, Temporal.Instant.from(`${end}${offsetAfter}`));
        await change(careUnit, second.body.id, { status: 'cancelled' });

        // From the first occurrence to the second, which have the same local time.
        const across = await change(careUnit, body.id, {
          start: `${end}${offsetBefore}`,
          end: `${start}${offsetAfter}`,
        });
        expect(across.body).toMatchObject({ start: `${end}${offsetBefore}`, end: `${start}${offsetAfter}` });
      });
    }
  });
});
