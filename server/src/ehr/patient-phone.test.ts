import { expect, test } from 'vitest';
import { phoneOf } from './connection.ts';

test.each([
  ['0701740605', 'SE', '+46701740605'],
  ['02079460958', 'GB', '+442079460958'],
  // Not valid in the country.
  ['0701740605', 'NO', null],
  ['12345', 'SE', null],
  ['00000000', 'NO', null],
  // A country code without its +.
  ['46701740605', 'SE', '+46701740605'],
  ['0701740605', undefined, null],
])('the number %s of a care unit in %s is %s', (nationalPhone, defaultCountry, expected) => {
  expect(phoneOf({ phone: null, nationalPhone }, { defaultCountry })).toBe(expected);
});

test('a number with a country code stays as it is, wherever it is from', () => {
  expect(phoneOf({ phone: '+4700000001' }, { defaultCountry: 'SE' })).toBe('+4700000001');
  expect(phoneOf({ phone: null }, { defaultCountry: 'SE' })).toBeNull();
});
