import { assert, constant, nat, oneof, option, property, string, tuple, uniqueArray, uuid } from 'fast-check';
import { expect, test } from 'vitest';
import { ehrOperationId } from './work.ts';

const part = option(oneof(nat(), string()), { nil: undefined });
const one = tuple(uuid(), nat(), part);
/** Ids of one write: only these could be confused. */
const several = uuid().chain((id) =>
  uniqueArray(tuple(constant(id), nat({ max: 3 }), part), { maxLength: 20, selector: (it) => JSON.stringify(it) }),
);

test('an id is deterministic', () => {
  assert(property(one, (it) => void expect(ehrOperationId(...it)).toBe(ehrOperationId(...it))));
});

test('the first attempt as a whole uses the id of the operation', () => {
  assert(property(uuid(), (id) => void expect(ehrOperationId(id, 0, undefined)).toBe(id)));
});

test('every other id is a version 8 UUID', () => {
  const others = one.filter(([, attempt, it]) => attempt > 0 || it !== undefined);
  const version8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  assert(property(others, (it) => void expect(ehrOperationId(...it)).toMatch(version8)));
});

test('no two parts or attempts share an id', () => {
  assert(
    property(several, (them) => {
      expect(new Set(them.map((it) => ehrOperationId(...it))).size).toBe(them.length);
    }),
  );
});
