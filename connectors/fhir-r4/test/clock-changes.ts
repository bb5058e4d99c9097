import type { ClockChange } from '@crossward/connector-kit/conformance';
import { nextClockChange } from '../../../test/clock-change-days.ts';
import { timeZone } from '../fake/data-set.ts';
import type { FhirResource } from '../src/fhir.ts';

/** Slots through the nights of both clock changes. Each start and end carries the offset valid at that moment. */
export function nightsOfClockChanges(): { readonly slots: readonly FhirResource[]; readonly nights: ClockChange[] } {
  const slots: FhirResource[] = [];
  const nights = (['spring', 'autumn'] as const).map((season): ClockChange => {
    const { date, instant } = nextClockChange(timeZone, season);
    const [start, end] = [0, 6].map((hour) => date.toZonedDateTime(timeZone).add({ hours: hour }));
    if (!start || !end) throw new Error('The night has no start or end');
    const slotStarts: Date[] = [];
    for (let at = start; at.epochMilliseconds < end.epochMilliseconds; at = at.add({ minutes: 30 })) {
      slotStarts.push(new Date(at.epochMilliseconds));
      const slot = {
        resourceType: 'Slot',
        id: `slot-r-1-${at.epochMilliseconds / 60_000}`,
        schedule: { reference: 'Schedule/schedule-r-1' },
        status: 'free',
        start: at.toString({ timeZoneName: 'never' }),
        end: at.add({ minutes: 30 }).toString({ timeZoneName: 'never' }),
      };
      slots.push(slot as FhirResource);
    }
    return {
      name: `the night in ${season}`,
      resourceId: 'r-1',
      healthcareServiceId: 'consultation',
      start: new Date(start.epochMilliseconds),
      end: new Date(end.epochMilliseconds),
      at: new Date(instant.epochMilliseconds),
      slotStarts,
    };
  });
  return { slots, nights };
}
