import { afterEach, expect, test } from 'vitest';
import { createdAt } from './document-reference.ts';

const zoneOfProcess = process.env.TZ;

afterEach(() => {
  if (zoneOfProcess === undefined) delete process.env.TZ;
  else process.env.TZ = zoneOfProcess;
});

test.each(['UTC', 'Pacific/Kiritimati', 'America/St_Johns'])('a document is as old in a process in %s', (zone) => {
  process.env.TZ = zone;
  const created = (date: string, lastUpdated?: string) =>
    createdAt({ resourceType: 'DocumentReference', date, ...(lastUpdated ? { meta: { lastUpdated } } : {}) });
  expect(created('2019-05-01T10:00:00+02:00')).toEqual(new Date('2019-05-01T08:00:00Z'));
  expect(created('2019-05-01')).toEqual(new Date('2019-05-01T00:00:00Z'));
  // A local time says less than when the server stored the document.
  expect(created('2019-05-01T10:00:00', '2020-01-01T00:00:00Z')).toEqual(new Date('2020-01-01T00:00:00Z'));
  expect(created('2019-05-01T10:00:00')).toEqual(new Date(0));
});
