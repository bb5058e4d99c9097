import { oslo, type Slot } from '../../requests/bookings.ts';
import { type About, type AppointmentWrites, isAt, isDone, slotOf } from './appointment-writes.ts';
import type { Life, Living } from './living.ts';

/** Appointments that need no code. */
export function appointmentLives({ random, takeSlot, takePair }: Living, writes: AppointmentWrites) {
  const { book, change, cancel } = writes;

  async function one(): Promise<void> {
    const { about, booked } = await book('booking', oslo);
    if (!isDone(booked)) return;
    for (let moves = 0; moves < 2 && random() < 0.5; moves++) {
      const slot = takeSlot(oslo);
      const { start, end, resource_id } = slot;
      const moved = await change('move', about, {
        body: { start, end, resource_id },
        seen: isAt(slot),
        slots: [slotOf(slot)],
      });
      if (moved.told === 'unknown') return;
    }
    if (random() < 0.6) await cancel(about);
  }

  /** A resource leaves: another one takes its appointments. */
  async function several(): Promise<void> {
    const first = takePair(oslo);
    const [from, to] = [first[0].resource_id, first[1].resource_id];
    const made: { readonly about: About; readonly target: Slot }[] = [];
    for (const [slot, target] of [first, takePair(oslo, [from, to]), takePair(oslo, [from, to])]) {
      const { about, booked } = await book('booking', oslo, { slot });
      if (isDone(booked)) made.push({ about, target });
    }
    if (made.length < 2) return;
    const all = {
      careUnit: oslo,
      subjects: made.flatMap(({ about }) => about.subjects),
      ids: made.flatMap(({ about }) => about.ids),
    };
    if (random() < 0.7) {
      const moved = await change('bulk move', all, {
        body: { resource_id: to },
        seen: ({ resource_id }) => resource_id === to,
        slots: made.map(({ target }) => slotOf(target)),
      });
      if (moved.told === 'unknown') return;
    }
    if (random() < 0.8) await cancel(all, 'bulk cancellation');
  }

  return { one, several } satisfies Record<string, Life>;
}
