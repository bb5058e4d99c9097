import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { onStopSignals } from './stop-signals.ts';

test('a signal that several processes pass on counts once, a later one again', () => {
  const source = new EventEmitter();
  const seen: unknown[] = [];
  let time = 1_000;
  onStopSignals(
    (signal, before) => seen.push([signal, before]),
    source,
    () => time,
  );
  source.emit('SIGINT');
  time += 20;
  source.emit('SIGINT');
  time += 400;
  source.emit('SIGTERM');
  expect(seen).toEqual([['SIGINT', 0]]);
  time += 600;
  source.emit('SIGTERM');
  time += 600;
  source.emit('SIGTERM');
  expect(seen.slice(1)).toEqual([
    ['SIGTERM', 1],
    ['SIGTERM', 2],
  ]);
});
