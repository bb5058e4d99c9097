import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyRing } from './key-ring.ts';
import { patientTokens } from './patient-tokens.ts';

const keys = createKeyRing([randomBytes(32)]);
const tokens = patientTokens(keys, 'east');
const numbers = ['se_personal_number:191212121212', 'no_personal_number:13116900216', 'nhs_number:9434765919'];

describe('a short token', () => {
  test.each(numbers)('has at most 64 signs of a FHIR id, and is opened as a long one: %s', (id) => {
    const short = tokens.sealShort(id) ?? '';
    expect(short).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
    expect(short).not.toMatch(/^cw\./);
    expect(short).toBe(tokens.sealShort(id));
    expect(tokens.open(short)).toBe(id);
    expect(tokens.open(tokens.seal(id))).toBe(id);
  });

  test('is no token of another EHR, another key or another text', () => {
    const [id = ''] = numbers;
    const short = tokens.sealShort(id) ?? '';
    expect(patientTokens(keys, 'west').open(short)).toBeUndefined();
    expect(patientTokens(createKeyRing([randomBytes(32)]), 'east').open(short)).toBeUndefined();
    for (const text of [`${short}A`, short.slice(0, -1), short.slice(2), `p.${tokens.seal(id)}`, 'p.', `${short}_`]) {
      expect(tokens.open(text), text).toBeUndefined();
    }
  });

  test('is no token without its prefix, whichever letters it has', () => {
    const all = Array.from({ length: 100 }, () => {
      const own = patientTokens(createKeyRing([randomBytes(32)]), 'east');
      const text = own.sealShort(numbers[0] ?? '')?.slice(2) ?? '';
      return { text, opened: own.open(text) };
    });
    expect(all.some(({ text }) => !text.includes('.'))).toBe(true);
    expect(all.filter(({ opened }) => opened !== undefined)).toEqual([]);
  });

  test.each(['nhs_number:12345678901234', 'emr_id:p-1', 'p-1', ''])('stands for no id of another form: %s', (id) => {
    expect(tokens.sealShort(id)).toBeUndefined();
  });
});
