import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyRing } from './key-ring.ts';
import { isProven, prove } from './proofs.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const keys = createKeyRing([first]);
const facts = {
  id: 'a',
  hash: Buffer.from('secret'),
  until: new Date(0),
  scopes: ['x', 'y'],
  grants: [{ emr: 'clinic', care_units: ['ward'] }],
};
const proof = prove(keys, 'client', facts);

test('proves the same facts, in any order of their members, and with any later key ring', () => {
  const { grants, ...rest } = facts;
  const same = { grants: [{ care_units: ['ward'], emr: 'clinic' }], absent: undefined, ...rest };
  expect(isProven(keys, 'client', { ...facts, absent: null }, prove(keys, 'client', same))).toBe(true);
  expect(isProven(createKeyRing([second, first]), 'client', facts, proof)).toBe(true);
});

test.each([
  ['another id', { ...facts, id: 'b' }],
  ['another secret', { ...facts, hash: Buffer.from('other') }],
  ['another end', { ...facts, until: new Date(1) }],
  ['no end', { ...facts, until: null }],
  ['one more scope', { ...facts, scopes: ['x', 'y', 'z'] }],
  ['scopes that are written together', { ...facts, scopes: ['x,y'] }],
  ['a wider grant', { ...facts, grants: [{ emr: 'clinic' }] }],
  ['one more fact', { ...facts, more: true }],
])('does not prove %s', (_, other) => {
  expect(isProven(keys, 'client', other, proof)).toBe(false);
});

test('does not prove a row of another table, and nobody else can make a proof', () => {
  expect(isProven(keys, 'operator', facts, proof)).toBe(false);
  expect(isProven(createKeyRing([second]), 'client', facts, proof)).toBe(false);
  const id = proof.subarray(0, 4);
  const forged = [null, Buffer.alloc(0), id, Buffer.concat([id, randomBytes(32)]), proof.subarray(0, -1)];
  for (const it of forged) expect(isProven(keys, 'client', facts, it)).toBe(false);
  expect(isProven(keys, 'client', facts, Buffer.concat([proof, Buffer.alloc(1)]))).toBe(false);
  const foreign = prove(createKeyRing([second]), 'client', facts);
  expect(isProven(keys, 'client', facts, Buffer.concat([id, foreign.subarray(4)]))).toBe(false);
});
