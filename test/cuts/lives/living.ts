import type { Slot } from '../../requests/bookings.ts';
import type { Callers } from '../caller.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';

/** What lives share. A life is what callers do with a thing, from the first write to the last. */
export interface Living {
  readonly world: World;
  readonly callers: Callers;
  readonly random: Random;
  /** A name that nothing else has. */
  name(what: string): string;
  /** A time that nobody else asks for. */
  takeSlot(careUnit: string): Slot;
  /** The same time of two resources: any two, or these. */
  takePair(careUnit: string, resources?: readonly [string, string]): readonly [Slot, Slot];
}

export type Life = () => Promise<unknown>;

/** For what there can only be few of. */
export function oneAtATime(life: Life): Life {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    await life();
    isBusy = false;
  };
}
