import { afterEach, expect, test, vi } from 'vitest';
import { guessedUnit } from './guess.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a time zone is guessed from numbers, other units and the machine, but never UTC', () => {
  vi.stubEnv('TZ', 'UTC');
  expect(guessedUnit({ settings: {} })).toEqual({ time_zone: undefined, language: 'en' });
  expect(guessedUnit({ settings: { national_number: 'no_personal_number' } }).time_zone).toBe('Europe/Oslo');
  expect(guessedUnit({ care_units: [{ time_zone: 'Asia/Kolkata', language: 'en' }] }).time_zone).toBe('Asia/Kolkata');
  vi.stubEnv('TZ', 'Europe/Paris');
  expect(guessedUnit({ settings: {} }).time_zone).toBe('Europe/Paris');
});
