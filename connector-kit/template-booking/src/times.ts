import type { CareUnit } from '@crossward/connector-kit';
import { datesIn, instantIn, Type } from '@crossward/connector-kit/rest';

export interface Range {
  readonly start: Date;
  readonly end: Date;
}

/** A time with its offset: one without would be read in the time zone of this process. */
export const timeSchema = Type.Refine(Type.String(), (it) => instantIn(it) !== undefined);

/** The first and the last day of a range in the care unit's time zone. `undefined`: it is empty. */
export function datesOf(careUnit: CareUnit, range: Range): { readonly from: string; readonly to: string } | undefined {
  const dates = datesIn(careUnit.timeZone, range);
  const [from, to] = [dates[0], dates.at(-1)];
  return from === undefined || to === undefined ? undefined : { from, to };
}
