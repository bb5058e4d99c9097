import { expect, test } from 'vitest';
import { resolvePatientPage } from '../schema/patient-page.ts';
import { backgrounds, contrast, minimumContrast } from './contrast.ts';

// From https://www.w3.org/WAI/WCAG22/Techniques/general/G18 and common contrast checkers.
test.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#767676', '#ffffff', 4.54],
  ['#ffffff', '#777777', 4.47],
  ['#FF0000', '#ffffff', 3.99],
])('the contrast of %s and %s is %f', (one, other, ratio) => {
  expect(Math.floor(contrast(one, other) * 100) / 100).toBe(ratio);
  expect(contrast(other, one)).toBe(contrast(one, other));
});

test('the default colours have enough contrast', () => {
  const page = resolvePatientPage();
  for (const key of ['accent_color', 'dark_accent_color'] as const) {
    expect(contrast(page[key], backgrounds[key])).toBeGreaterThanOrEqual(minimumContrast);
  }
});
