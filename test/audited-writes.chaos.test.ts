import { expect, onTestFinished, test } from 'vitest';
import { book, change, create } from './crash-points/requests.ts';
import { createWorld } from './crash-points/world.ts';
import { oslo, sodermalm } from './requests/bookings.ts';

/*
 * Writes without an `Idempotency-Key`, which nobody repeats. `violations` looks for appointments without the entry of the write
 * that made them, when no operation or background job is pending.
 */
test('a write whose gateway is killed has an audit entry', async () => {
  const world = await createWorld('postgresql', onTestFinished);
  const kill = (killAt: string) => ({ headers: { 'x-kill-at': killAt } });
  for (const killAt of ['after 1', 'after 2', 'before 3', 'after 3', 'response']) {
    const [slot] = await world.take(oslo, 'r-1', 1);
    if (!slot) throw new Error('No free slot');
    await world.crashDuring({ ...create(oslo, slot), ...kill(killAt) });
  }
  const [slot] = await world.take(sodermalm, 'r-1', 1);
  if (!slot) throw new Error('No free slot');
  const id = await book(world, sodermalm, slot);
  await world.crashDuring({ ...change(sodermalm, id, { comment: 'Ring først' }), ...kill('response') });
  expect(await world.violations()).toEqual({});
});
