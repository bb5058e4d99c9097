import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedName, hasFamilyName, isSameName, spellingsOfName } from './names.ts';

test.each([
  ['Strandsand', 'STRANDSAND', true],
  ['Vik', 'Vik ', true],
  ['Vik  Lie', '\u00a0Vik Lie', true],
  ['Å', 'A\u030a', true],
  ["O'Brien", 'O\u2019Brien', true],
  ["O'Brien", 'o\u02bcbrien', true],
  ['Smith-Lie', 'Smith\u2011Lie', true],
  ['Smith-Lie', 'Smith\u2013Lie', true],
  ['Straße', 'STRASSE', true],
  ['Vik', 'V\u200bik', true],
  ['Vik', 'Vig', false],
  ['Smith-Lie', 'Smith Lie', false],
  ['Ås', 'As', false],
  ['', '', false],
  [null, null, false],
  [undefined, 'Vik', false],
])('%j and %j are the same name: %j', (one, other, expected) => {
  expect(isSameName(one, other)).toBe(expected);
});

test('every spelling of a name is that name', () => {
  const letters = fc.array(fc.constantFrom('a', 'Ø', 'é', "'", '\u2019', '-', '\u2011', ' '), { maxLength: 12 });
  fc.assert(
    fc.property(letters, (all) => {
      const name = all.join('');
      for (const it of spellingsOfName(name)) expect(foldedName(it)).toBe(foldedName(name));
    }),
  );
  expect(spellingsOfName(' Vik ')).toEqual(['Vik']);
  expect(spellingsOfName("O'Brien-Lie")).toContain('O\u2019Brien\u2011Lie');
});

test.each([
  ['Nora', 'Vik', 'Vik', true],
  ['Nora', 'Vik', 'Nora', false],
  ['Nora', 'Vik Berg', 'Berg', false],
  [null, 'Nora Vik', 'Vik', true],
  [null, 'Nora  VIK ', 'vik', true],
  [null, 'Vik, Nora', 'Vik', true],
  [null, 'Nora Vik', 'Nora Vik', true],
  [null, 'Nora De La Vik', 'de la vik', true],
  [null, 'Nora Vik', 'Vi', false],
  [null, 'Nora Anna Vik', 'Anna', false],
  [null, 'Noravik', 'Vik', false],
  [null, null, 'Vik', false],
  [null, 'Nora Vik', ' ', false],
])('given name %j and family name %j: has the family name %j: %s', (givenName, familyName, wanted, expected) => {
  expect(hasFamilyName({ givenName, familyName }, wanted)).toBe(expected);
});
