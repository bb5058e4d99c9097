import type { ClockChange } from '@crossward/connector-kit/conformance';
import { clockChangeNights } from '../fake/clock-change-nights.ts';
import type { FhirResource } from '../src/fhir.ts';

/** Slots through the nights of both clock changes, and what the conformance suite is told of them. */
export function nightsOfClockChanges(): { readonly slots: readonly FhirResource[]; readonly nights: ClockChange[] } {
  const nights = clockChangeNights();
  return {
    slots: nights.flatMap(({ slots }) => slots),
    nights: nights.map(({ season, start, end, at, slots }) => ({
      name: `the night in ${season}`,
      resourceId: 'r-1',
      healthcareServiceId: 'consultation',
      start,
      end,
      at,
      slotStarts: slots.map((slot) => new Date(slot.start)),
    })),
  };
}
