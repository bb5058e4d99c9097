import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseGrants, resolveGrants } from './grants.ts';

const ids = fc.constantFrom('a', 'b', 'c', 'd');
const units = fc.uniqueArray(ids);
const emrs = fc
  .uniqueArray(fc.record({ id: ids, units }), { selector: ({ id }) => id })
  .map((all) =>
    all.map(({ id, units }) => ({ id, name: id, care_units: units.map((unit) => ({ id: unit, name: unit })) })),
  );
const grants = fc.uniqueArray(
  fc.record({ emr: ids, care_units: fc.uniqueArray(ids, { minLength: 1 }) }, { requiredKeys: ['emr'] }),
  { selector: ({ emr }) => emr },
);

test('a care unit is granted exactly if the configuration has it and a grant names it, or its whole EHR', () => {
  fc.assert(
    fc.property(grants, emrs, ids, ids, (granted, configured, emr, unit) => {
      const exists = configured.some((it) => it.id === emr && it.care_units.some(({ id }) => id === unit));
      const isNamed = granted.some((it) => it.emr === emr && (it.care_units?.includes(unit) ?? true));
      expect(resolveGrants(granted, configured).get(emr)?.has(unit) ?? false).toBe(exists && isNamed);
    }),
  );
});

test('an EHR without a care unit that exists is not granted', () => {
  const configured = [{ id: 'a', name: 'A', care_units: [{ id: 'x', name: 'X' }] }];
  expect(resolveGrants([{ emr: 'a', care_units: ['gone'] }, { emr: 'gone' }], configured)).toEqual(new Map());
});

test('grants are read as they are typed, joined by EHR', () => {
  expect(parseGrants(['a', 'b: x, y', 'b:z', 'a'])).toEqual([{ emr: 'a' }, { emr: 'b', care_units: ['x', 'y', 'z'] }]);
  expect(parseGrants(['a', 'a:x'])).toEqual([{ emr: 'a' }, { emr: 'a', care_units: ['x'] }]);
});
