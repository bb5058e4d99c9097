import { oslo, riverside, sodermalm } from '../requests/bookings.ts';
import type { Callers } from './caller.ts';
import { appointmentWrites } from './lives/appointment-writes.ts';
import { appointmentLives } from './lives/appointments.ts';
import { codeLives, draftsCareUnit } from './lives/codes.ts';
import { endpointLife } from './lives/endpoints.ts';
import type { Life, Living } from './lives/living.ts';
import { operatorLives } from './lives/operators.ts';
import { recordLives } from './lives/records.ts';
import { scheduleLife } from './lives/schedules.ts';
import { readSlots } from './lives/slots.ts';
import { pick, type Random } from './random.ts';
import type { World } from './world.ts';

/** Returns a function that lives one life, whose kind is random. A life ends when an outcome stays unknown. */
export async function createLives(world: World, callers: Callers, random: Random): Promise<Life> {
  let things = 0;
  const slots = await readSlots(callers, random, [oslo, sodermalm, riverside, draftsCareUnit]);
  const living: Living = { world, callers, random, name: (what) => `${what} ${++things}`, ...slots };
  const writes = appointmentWrites(living);
  const appointments = appointmentLives(living, writes);
  const codes = codeLives(living, writes);
  const records = recordLives(living);
  const operators = operatorLives(living);
  const shares: readonly (readonly [Life, number])[] = [
    [appointments.one, 4],
    [appointments.several, 3],
    [codes.held, 4],
    [codes.draft, 4],
    [codes.oneCancellation, 3],
    [codes.severalCancellations, 2],
    [records.note, 2],
    [records.document, 2],
    [scheduleLife(living), 2],
    [endpointLife(living), 3],
    [operators.endpoint, 2],
    [operators.client, 2],
    [operators.drop, 1],
  ];
  const lives = shares.flatMap(([life, share]) => Array.from({ length: share }, () => life));
  return () => pick(random, lives)();
}
