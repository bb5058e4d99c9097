import { expect, test } from 'vitest';
import { time } from './parts.ts';
import { timeZoneOf, withLocalTimes } from './time-zone.ts';

const emrs = [
  { care_units: [{ time_zone: 'Europe/London' }, { time_zone: 'Europe/Oslo' }] },
  { care_units: [{ time_zone: 'Europe/Oslo' }] },
];

test.each([
  [{}, emrs, 'Europe/Oslo'],
  [{ time_zone: 'Europe/Stockholm' }, emrs, 'Europe/Stockholm'],
  [{}, emrs.slice(0, 1), 'Europe/London'],
  [{}, [], 'UTC'],
])('with the settings %j, the time zone of %j is %s', (settings, emrs, expected) => {
  expect(timeZoneOf({ settings, emrs })).toBe(expected);
});

test.each([
  ['2026-11-22T13:07:22Z', 'Europe/Oslo', '22 Nov 2026 13:07:22 UTC (14:07:22 Oslo)'],
  ['2026-07-22T13:07:22Z', 'Europe/Oslo', '22 Jul 2026 13:07:22 UTC (15:07:22 Oslo)'],
  ['2026-11-22T23:30:00Z', 'Europe/Oslo', '22 Nov 2026 23:30:00 UTC (23 Nov 00:30:00 Oslo)'],
  ['2026-11-22T23:30:00Z', 'America/New_York', '22 Nov 2026 23:30:00 UTC (18:30:00 New York)'],
  ['2026-11-22T23:30:00Z', 'UTC', '22 Nov 2026 23:30:00 UTC'],
])('%s in %s is shown as %s', (instant, zone, expected) => {
  const shown = time(new Date(instant));
  const page = withLocalTimes(typeof shown === 'object' && shown && 'text' in shown ? shown.text : '', zone);
  expect(page.replaceAll(/<[^>]+>/g, '')).toBe(expected);
});
