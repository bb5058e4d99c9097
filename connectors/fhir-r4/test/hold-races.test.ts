import { expect, test } from 'vitest';
import { creation, freeSlots, write } from './bookings.ts';
import { fakes } from './conformance-subjects.ts';

const racers = 20;
/** The modes with holds in the EHR. For the others, the conformance kit checks that a hold is rejected. */
const holding = fakes.filter(({ name }) => /transaction|slot claim|\$hold/.test(name));

test.each(holding)(
  'of twenty concurrent holds of one slot over two connections, exactly one succeeds: $name',
  async ({ make }) => {
    const { connector, second = connector, close } = await make();
    try {
      const [slot, next] = await freeSlots(connector, 2);
      const until = new Date(Date.now() + 600_000);
      const holds = await Promise.allSettled(
        Array.from({ length: racers }, (_, index) => write(index % 2 ? second : connector, [creation(slot, until)])),
      );
      const won = holds.flatMap((it) => (it.status === 'fulfilled' ? it.value : []));
      expect(won).toMatchObject([{ state: 'held' }]);
      for (const it of holds)
        if (it.status === 'rejected') expect(it.reason).toMatchObject({ kind: 'time_slot_unavailable' });
      expect(await freeSlots(connector, 1)).toEqual([next]);
      const confirm = { kind: 'confirm', appointmentId: won[0]?.id ?? '' } as const;
      expect(await write(second, [confirm])).toMatchObject([{ state: 'booked' }]);
    } finally {
      await close?.();
    }
  },
);
