import { Secret, TOTP, URI } from 'otpauth';
import { expect, test } from 'vitest';
import { enrolmentUri, newTotpSecret, stepOfCode } from './totp.ts';

const now = 1_800_000_000_000;
const step = now / 30_000;

test('the codes of RFC 6238, appendix B, are accepted', () => {
  const secret = Buffer.from('12345678901234567890');
  // The appendix has eight digits; apps show the last six.
  expect(stepOfCode(secret, '287082', 0, 59_000)).toBe(1);
  expect(stepOfCode(secret, '081804', 0, 1_111_111_109_000)).toBe(0x23523ec);
});

test('a code is accepted a step early or late, and once', () => {
  const secret = newTotpSecret();
  const code = (at: number) =>
    new TOTP({ secret: new Secret({ buffer: new Uint8Array(secret).buffer }) }).generate({ timestamp: at });
  expect(stepOfCode(secret, code(now), 0, now)).toBe(step);
  expect(stepOfCode(secret, code(now - 30_000), 0, now)).toBe(step - 1);
  expect(stepOfCode(secret, code(now + 30_000), 0, now)).toBe(step + 1);
  expect(stepOfCode(secret, code(now), step, now)).toBeUndefined();
  expect(stepOfCode(secret, code(now - 30_000), step, now)).toBeUndefined();
  for (const at of [now - 90_000, now + 90_000]) expect(stepOfCode(secret, code(at), 0, now)).toBeUndefined();
  for (const text of ['', 'abcdef', '12345', '1234567', 'éééééé', '１２３４５６']) {
    expect(stepOfCode(secret, text, 0, now)).toBeUndefined();
  }
});

test('an app reads the secret from the URI', () => {
  const secret = newTotpSecret();
  const read = URI.parse(enrolmentUri(secret, 'kari'));
  expect([read.issuer, read.label]).toEqual(['Crossward', 'kari']);
  expect(Buffer.from(read.secret.buffer)).toEqual(secret);
});
