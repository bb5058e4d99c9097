import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromFhirId, readSlotId, scheduleId, slotId, toFhirId } from './ids.ts';

const fhirId = /^[A-Za-z0-9.-]{1,64}$/;

test('every native id that can be named is found again', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ minLength: 1, unit: 'grapheme' }),
        fc.stringMatching(/^[A-Za-z0-9._-]{1,70}$/),
        fc.tuple(fc.uuid(), fc.uuid()).map((pair) => pair.join('_')),
        fc.stringMatching(/^cw2?\.[A-Za-z0-9.-]{1,43}$/),
      ),
      (id) => {
        const named = toFhirId(id);
        if (named === undefined) return expect(Buffer.byteLength(id)).toBeGreaterThan(45);
        expect(named).toMatch(fhirId);
        expect(fromFhirId(named)).toBe(id);
      },
    ),
  );
  expect(toFhirId('p-1')).toBe('p-1');
  expect(toFhirId('a_b')).toBe('cw.YV9i');
  expect(toFhirId('cw.x')).toMatch(/^cw\../);
  expect(toFhirId('cw2.x')).toMatch(/^cw\../);
  // One part of a group appointment.
  const [group, patient] = ['0f60f7be-7a4f-4480-b4be-f5024f2f5004', '9a2fd785-b2b8-4491-8f5c-0409c89cf4d5'];
  expect(toFhirId(`${group}_${patient}`)).toMatch(/^cw2\.[A-Za-z0-9.-]{43}$/);
  expect(fromFhirId(toFhirId(`${group}_${patient}`) ?? '')).toBe(`${group}_${patient}`);
});

test('no two FHIR ids name one native id', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^(cw2?\.)?[A-Za-z0-9.-]{1,60}$/), (id) => {
      const native = fromFhirId(id);
      if (native !== undefined) expect(toFhirId(native)).toBe(id);
    }),
  );
});

test('a Slot is the name of a time in a Schedule', () => {
  const seconds = fc.integer({ min: 0, max: 7_000_000_000 });
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      seconds,
      fc.integer({ min: 1, max: 1_000_000 }),
      (resource, service, start, length) => {
        const name = {
          scheduleId: scheduleId(resource, service),
          start: new Date(start * 1000),
          end: new Date((start + length) * 1000),
        };
        expect(slotId(name)).toMatch(fhirId);
        expect(readSlotId(slotId(name))).toEqual(name);
      },
    ),
  );
  expect(scheduleId('a', 'b')).not.toBe(scheduleId('ab', ''));
  expect(readSlotId('a.1.2')).toBeUndefined();
});
