import Type from 'typebox';
import { expect, test } from 'vitest';
import { readRecord } from './records.ts';

const schema = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.Object({ given: Type.Array(Type.String()), family: Type.Optional(Type.String()) })),
});

test.each([
  [{ id: 'a' }, { id: 'a' }],
  [{ id: 'a', name: null }, { id: 'a' }],
  [
    { id: 'a', name: { given: ['Kari', null], family: null } },
    { id: 'a', name: { given: ['Kari'] } },
  ],
])('%j is read without its nulls', (value, record) => {
  expect(readRecord(schema, value)).toEqual({ record });
});

test.each([
  [{ name: null }, '/id'],
  [{ id: null }, '/id'],
  [{ id: 7 }, '/id'],
  [{ id: 'a', name: 'Kari' }, '/name'],
  [{ id: 'a', name: {} }, '/name/given'],
  [{ id: 'a', name: { given: ['Kari', 7] } }, '/name/given/1'],
  [null, ''],
  ['a page', ''],
])('%j cannot be read, and the place is told', (value, path) => {
  expect(readRecord(schema, value)).toEqual({ path });
});
