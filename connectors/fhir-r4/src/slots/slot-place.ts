import { type Habits, lists } from '../server/habits.ts';

/**
 * The parameter by which some servers find the Slots of a location, which their Schedules do not name, such as Oracle Health:
 * https://docs.oracle.com/en/industries/health/millennium-platform-apis/mfrap/op-slot-get.html. `undefined`: the server
 * does not list it, or there is no location.
 */
export function slotPlace(habits: Habits, location: string | undefined): readonly [string, string] | undefined {
  if (location === undefined || !lists(habits, 'Slot', '-location')) return undefined;
  return ['-location', location.slice('Location/'.length)];
}
