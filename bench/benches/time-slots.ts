import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { reads } from '../measure/load.ts';
import { careUnit, variantsOf } from './bookings.ts';
import { durationResult, throughputResult, withPair } from './pair.ts';

const oneResource = variantsOf((range) => `/timeslots?${range}&resource_id=r-1&limit=500`, 1, 15);
const ofAll = variantsOf((range) => `/timeslots?${range}`, 1, 92);
const inCareUnit = (paths: readonly string[]) => paths.map((path) => `${careUnit}${path}`);

/** Two weeks of one resource, against one SELECT of ready rows. The first page of a whole care unit, against that. */
export const timeSlots: Bench = {
  name: 'time-slots',
  run: (postgres) =>
    withPair(postgres, {}, async ({ gateway, yardstick }) => {
      const ofResource = reads(gateway, ...inCareUnit(oneResource));
      const ofCareUnit = reads(gateway, ...inCareUnit(ofAll));
      const twoWeeks = await compare(postgres, ofResource, reads(yardstick, ...oneResource));
      const ready = oneResource.map((path) => path.replace('/timeslots', '/ready'));
      const bytes = await compare(postgres, ofResource, reads(yardstick, ...ready));
      const firstPage = await compare(postgres, ofCareUnit, ofResource);
      return [
        throughputResult('time slots, one resource, two weeks', 'one SELECT of ready rows', 0.6, twoWeeks),
        throughputResult('time slots, one resource, two weeks', 'ready bytes', undefined, bytes),
        {
          name: 'time slots, one resource, two weeks',
          measure: 'processor time of the gateway, ms',
          value: bytes.ours.cpu,
          reach: { atMost: 0.32 },
          details: {},
        },
        durationResult('time slots, care unit, 92 days, first page', 'one resource, two weeks', 2, firstPage),
      ];
    }),
};
