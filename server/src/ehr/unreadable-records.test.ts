import { expect, test, vi } from 'vitest';
import { countUnreadable } from './unreadable-records.ts';

const day = 24 * 60 * 60 * 1000;

test('a record is counted once, however often it is left out', () => {
  const counter = countUnreadable('ehr', undefined, () => day);
  for (const id of ['1', '2', '1']) counter.leftOut({ type: 'Appointment', id, path: `/participant/${id}` });
  counter.leftOut({ type: 'Slot', path: '/id' });
  counter.leftOut({ type: 'Slot', path: '/id' });
  expect(counter.counts()).toEqual([
    { type: 'Appointment', count: 2, since: new Date(day), path: '/participant/1' },
    { type: 'Slot', count: 1, since: new Date(day), path: '/id' },
  ]);
});

test('a record that was not left out for a day is forgotten', () => {
  let now = 0;
  const counter = countUnreadable('ehr', undefined, () => now);
  counter.leftOut({ type: 'Slot', id: 'mended', path: '/start' });
  counter.leftOut({ type: 'Slot', id: 'broken', path: '/end' });
  now = day / 2;
  counter.leftOut({ type: 'Slot', id: 'broken', path: '/end' });
  now = day;
  expect(counter.counts()).toEqual([{ type: 'Slot', count: 1, since: new Date(0), path: '/end' }]);
});

test('the log has the first record of a type, without its id', () => {
  const warn = vi.fn();
  const counter = countUnreadable('ehr', { warn });
  for (const id of ['canary-1', 'canary-2']) counter.leftOut({ type: 'Patient', id, path: '/name' });
  expect(warn).toHaveBeenCalledOnce();
  expect(JSON.stringify(warn.mock.calls)).not.toContain('canary');
});
