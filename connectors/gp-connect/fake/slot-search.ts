import {
  locationResource,
  organization,
  practitionerResource,
  type Slot,
  scheduleResource,
  slotResource,
} from './data-set.ts';
import { Refusal } from './outcome.ts';
import { fromUkText, startOfUkDay } from './uk-text.ts';

const known = ['status', 'start', 'end', '_include', '_include:recurse', 'searchFilter'];
const longestDays = 14;

/** @throws Refusal 400 BAD_REQUEST, 422 INVALID_PARAMETER */
export function searchSlots(slots: readonly Slot[], parameters: URLSearchParams): readonly object[] {
  if ([...parameters.keys()].some((name) => !known.includes(name))) throw new Refusal(400, 'BAD_REQUEST');
  if (!parameters.getAll('_include').includes('Slot:schedule')) throw new Refusal(400, 'BAD_REQUEST');
  if (parameters.get('status') !== 'free') throw invalid();
  const [start, end] = [timeOf(parameters.getAll('start'), 'ge'), timeOf(parameters.getAll('end'), 'le')];
  const days = Math.trunc((end - start) / (24 * 60 * 60 * 1000));
  if (end < start || days > longestDays) throw invalid();
  const found = slots.filter((it) => it.isFree && it.start >= start && it.end <= end);
  const schedules = [...new Set(found.map(({ schedule }) => schedule))];
  const recurse = parameters.getAll('_include:recurse');
  const included = (type: string, ids: readonly (string | undefined)[], make: (id: string) => object) =>
    recurse.includes(`Schedule:actor:${type}`) ? [...new Set(ids)].flatMap((id) => (id ? [make(id)] : [])) : [];
  const practitioners = schedules.map(({ practitioner }) => practitioner);
  const locations = schedules.map(({ location }) => location);
  return [
    // In no order that means anything.
    ...found.toReversed().map(slotResource),
    ...schedules.map(scheduleResource),
    ...included('Practitioner', practitioners, practitionerResource),
    ...included('Location', locations, locationResource),
    ...(found.length > 0 ? [organization] : []),
  ];
}

/** A date means its midnight. A date-time must have the offset of the United Kingdom at that time. */
function timeOf(values: readonly string[], prefix: string): number {
  const [value = '', ...more] = values;
  if (more.length > 0 || !value.startsWith(prefix)) throw invalid();
  const text = value.slice(prefix.length);
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? startOfUkDay(text) : fromUkText(text);
  if (time === undefined) throw invalid();
  return time;
}

function invalid(): Refusal {
  return new Refusal(422, 'INVALID_PARAMETER');
}
