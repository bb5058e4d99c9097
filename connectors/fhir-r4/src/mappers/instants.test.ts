import { afterEach, describe, expect, it } from 'vitest';
import { readInstant } from './instants.ts';

const zoneOfProcess = process.env.TZ;

afterEach(() => {
  if (zoneOfProcess === undefined) delete process.env.TZ;
  else process.env.TZ = zoneOfProcess;
});

describe('readInstant', () => {
  it.each([
    ['2027-02-01T08:00:00Z', '2027-02-01T08:00:00.000Z'],
    ['2027-02-01T08:00:00+01:00', '2027-02-01T07:00:00.000Z'],
    ['2027-02-01T08:00:00.5-03:30', '2027-02-01T11:30:00.500Z'],
    ['2027-02-01T08:00:00.123456789+14:00', '2027-01-31T18:00:00.123Z'],
    ['2027-02-01T08:00:00-05', '2027-02-01T13:00:00.000Z'],
    ['2027-02-01T08:00:00+0530', '2027-02-01T02:30:00.000Z'],
    ['2027-02-01T08:00Z', '2027-02-01T08:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(readInstant(text)?.toISOString()).toBe(expected);
  });

  it.each([
    undefined,
    '',
    '2027',
    '2027-02',
    '2027-02-01',
    '2027-02-01T08:00:00',
    '2027-02-01T08:00:00.000',
    '2027-02-01 08:00:00Z',
    '2027-02-30T08:00:00Z',
    '2027-13-01T08:00:00Z',
    '2027-02-01T24:00:00Z',
    '2027-02-01T08:60:00Z',
    '2027-02-01T08:00:00+25:00',
    '2027-02-01T08:00:00[Europe/Oslo]',
    'Mon, 01 Feb 2027 08:00:00 GMT',
    '1801468800000',
    'tomorrow',
  ])('does not guess %s', (text) => {
    expect(readInstant(text)).toBeUndefined();
  });

  it('does not read what is no text', () => {
    expect(readInstant(1_801_468_800_000 as unknown as string)).toBeUndefined();
    expect(readInstant(null as unknown as string)).toBeUndefined();
  });

  it.each(['Pacific/Kiritimati', 'America/St_Johns', 'UTC'])('reads the same in a process in %s', (zone) => {
    process.env.TZ = zone;
    expect(readInstant('2027-02-01T08:00:00+01:00')?.getTime()).toBe(Date.UTC(2027, 1, 1, 7));
    expect(readInstant('2027-02-01T08:00:00')).toBeUndefined();
  });
});
