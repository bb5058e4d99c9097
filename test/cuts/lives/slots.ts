import type { Slot } from '../../requests/bookings.ts';
import type { Callers } from '../caller.ts';
import { pick, type Random } from '../random.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
const mostSlots = 900;

/** Reads the free times of each care unit once. */
export async function readSlots({ read }: Callers, random: Random, careUnits: readonly string[]) {
  const slots = new Map(await Promise.all(careUnits.map(async (it) => [it, await freeSlots(it)] as const)));

  async function freeSlots(careUnit: string): Promise<Slot[]> {
    const from = Date.now() + 7 * dayMilliseconds;
    const query = new URLSearchParams({
      start: new Date(from).toISOString(),
      end: new Date(from + 50 * dayMilliseconds).toISOString(),
      healthcare_service_id: 'consultation',
      limit: '500',
    });
    const found: Slot[] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < mostSlots; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const page: { timeslots: Slot[]; next_cursor: string | null } | undefined = await read(
        `${careUnit}/timeslots?${query}`,
      );
      found.push(...(page?.timeslots ?? []));
      cursor = page?.next_cursor ?? null;
    }
    return found;
  }

  function take(careUnit: string, of: (list: readonly Slot[]) => readonly Slot[]): Slot {
    const list = slots.get(careUnit) ?? [];
    const possible = of(list);
    if (possible.length === 0) throw new Error('No free slots are left');
    const slot = pick(random, possible);
    list.splice(list.indexOf(slot), 1);
    return slot;
  }

  return {
    takeSlot: (careUnit: string): Slot => take(careUnit, (list) => list),
    takePair(careUnit: string, resources?: readonly [string, string]): readonly [Slot, Slot] {
      const isOf = (slot: Slot, index: 0 | 1) => !resources || slot.resource_id === resources[index];
      const second = (slot: Slot, list: readonly Slot[]) =>
        list.filter((it) => it.start === slot.start && it.resource_id !== slot.resource_id && isOf(it, 1));
      const first = take(careUnit, (list) => list.filter((it) => isOf(it, 0) && second(it, list).length > 0));
      return [first, take(careUnit, (list) => second(first, list))];
    },
  };
}
