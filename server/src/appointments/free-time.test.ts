import { type Capabilities, coversWithoutGap, type TimeSlotQuery } from '@crossward/connector-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { areFree, freeSlotsFor } from './free-time.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const careUnit = {} as CareUnitConnection;

interface Offered {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/** An EHR whose slots of `minutes` cover 400 days without a gap, except for taken times. */
function ehrWith(slotMinutes: number, isTaken: (start: number) => boolean, capabilities: Partial<Capabilities> = {}) {
  const queries: TimeSlotQuery[] = [];
  const call = async (_: 'listTimeSlots', query: TimeSlotQuery) => {
    queries.push(query);
    const [resourceId = ''] = query.resourceIds ?? [];
    const [healthcareServiceId = ''] = query.healthcareServiceIds ?? [];
    const found: Offered[] = [];
    const length = slotMinutes * minute;
    for (let start = Math.ceil(query.start.getTime() / length) * length; found.length < query.limit; start += length) {
      if (start + length > Math.min(query.end.getTime(), 400 * day)) break;
      if (isTaken(start)) continue;
      found.push({ resourceId, healthcareServiceId, start: new Date(start), end: new Date(start + length) });
    }
    return found;
  };
  return { ehr: { call, capabilities } as unknown as EhrConnection, queries };
}

const time = (start: number, minutes: number, more: Partial<Offered> = {}): Offered => ({
  resourceId: 'r-1',
  healthcareServiceId: 'consultation',
  start: new Date(start),
  end: new Date(start + minutes * minute),
  ...more,
});

test('times close together need one call, however many there are', async () => {
  const { ehr, queries } = ehrWith(30, () => false);
  const times = Array.from({ length: 100 }, (_, index) => time(index * 30 * minute, 30));
  expect(await areFree(ehr, careUnit, times)).toBe(true);
  expect(queries).toHaveLength(1);
});

test('times spread over most of a year need few calls', async () => {
  const { ehr, queries } = ehrWith(30, () => false);
  const times = Array.from({ length: 100 }, (_, index) => time(index * 3 * day, 30));
  expect(await areFree(ehr, careUnit, times)).toBe(true);
  // 1,500 slots of half an hour are a month.
  expect(queries.length).toBeLessThanOrEqual(11);
  for (const { start, end } of queries) expect(end.getTime() - start.getTime()).toBeLessThanOrEqual(92 * day);
});

test('each resource and each service is searched separately', async () => {
  const { ehr, queries } = ehrWith(30, () => false);
  const times = ['r-1', 'r-2'].flatMap((resourceId) =>
    ['consultation', 'vaccination'].flatMap((healthcareServiceId) =>
      [0, 1, 2].map((hour) => time(hour * 60 * minute, 30, { resourceId, healthcareServiceId })),
    ),
  );
  expect(await areFree(ehr, careUnit, times)).toBe(true);
  expect(queries).toHaveLength(4);
});

test('the result equals that of one call for each time, with at most as many calls', async () => {
  const wanted = fc.array(
    fc.record({
      slot: fc.oneof(fc.nat(200), fc.nat(19_000)),
      slots: fc.integer({ min: 1, max: 20 }),
      shift: fc.constantFrom(0, 0, 0, 5),
      resourceId: fc.constantFrom('r-1', 'r-2'),
    }),
    { minLength: 1, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(wanted, fc.integer({ min: 2, max: 50 }), async (wishes, every) => {
      const { ehr, queries } = ehrWith(30, (start) => (start / (30 * minute)) % every === 1);
      const times = wishes.map(({ slot, slots, shift, resourceId }) =>
        time((slot * 30 + shift) * minute, slots * 30, { resourceId }),
      );
      const together = await freeSlotsFor(ehr, careUnit, times);
      expect(queries.length).toBeLessThanOrEqual(times.length);
      for (const one of times) {
        const alone = await freeSlotsFor(ehr, careUnit, [one]);
        const own = together.filter(({ resourceId }) => resourceId === one.resourceId);
        expect(coversWithoutGap(own, one)).toBe(coversWithoutGap(alone, one));
      }
    }),
  );
});

test('an EHR that searches for one patient is asked once for each', async () => {
  const { ehr, queries } = ehrWith(30, () => false, { slotsByPatient: 'required' });
  const times = ['p-1', 'p-2', 'p-1'].map((patientId, index) => ({ ...time(index * 30 * minute, 30), patientId }));
  expect(await areFree(ehr, careUnit, times)).toBe(true);
  expect(queries.map(({ patientId }) => patientId)).toEqual(['p-1', 'p-2']);
});

test('other EHRs are not told the patient, and all are told the appointment that moves alone', async () => {
  const { ehr, queries } = ehrWith(30, () => false);
  const [first, second] = [0, 1].map((index) => ({ ...time(index * 30 * minute, 30), patientId: `p-${index}` }));
  await freeSlotsFor(
    ehr,
    careUnit,
    [first, second].flatMap((it) => it ?? []),
    ['a-1', 'a-2'],
  );
  await freeSlotsFor(
    ehr,
    careUnit,
    [first].flatMap((it) => it ?? []),
    ['a-1'],
  );
  expect(queries.map(({ patientId, forAppointment }) => [patientId, forAppointment])).toEqual([
    [undefined, undefined],
    [undefined, 'a-1'],
  ]);
});
