import { expect, test } from 'vitest';
import { readAuditSearch } from './read-search.ts';

const now = new Date('2030-03-15T09:00:00Z');

test.each([
  [{ requestId: 'r-1' }, '2030-03-08T09:00:00.000Z'],
  [{ requestId: 'r-1', client: 'app', to: '2030-02-28' }, '2030-02-21T00:00:00.000Z'],
  [{ requestId: 'r-1', from: '2020-01-01' }, '2020-01-01T00:00:00.000Z'],
  // Patients have an index.
  [{ requestId: 'r-1', emr: 'north', patient: 'p-1' }, undefined],
  [{ client: 'app' }, undefined],
])('a search by %j begins at %s', (typed, from) => {
  const search = readAuditSearch(typed, now);
  expect(typeof search === 'object' && search.from?.toISOString()).toBe(from);
});
