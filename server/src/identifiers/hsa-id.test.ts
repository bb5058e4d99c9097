import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hsaIds } from './arbitraries.ts';
import { normaliseHsaId } from './hsa-id.ts';

describe('HSA-ids', () => {
  test('are case-insensitive', () => {
    fc.assert(
      fc.property(hsaIds, (id) => {
        expect(normaliseHsaId(id)).toBe(id);
        expect(normaliseHsaId(id.toLowerCase())).toBe(id);
      }),
    );
  });

  test('include that of a sandbox resource', () => {
    expect(normaliseHsaId('SE0000000000-1001')).toBe('SE0000000000-1001');
  });

  test('can have 31 characters', () => {
    expect(normaliseHsaId(`SE2321000016-${'A'.repeat(18)}`)).toHaveLength(31);
    expect(normaliseHsaId(`SE2321000016-${'A'.repeat(19)}`)).toBeUndefined();
  });

  test.each([
    '',
    'SE2321000016',
    'SE2321000016-',
    'NO2321000016-1',
    'SE232100001-1',
    'SE23210000166-1',
    'SE2321000016-Å',
    'SE2321000016-1-2',
    'SE2321000016-1@',
    ' SE2321000016-1',
    'SE2321000016-1\n',
    'ſE2321000016-1',
  ])('must not have the form %j', (text) => {
    expect(normaliseHsaId(text)).toBeUndefined();
  });
});
