import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import type { Counterpart } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { gatewayBefore } from '../../server/src/ehr/gateway-before.ts';
import { fewDays } from '../requests/few-days.ts';
import { assertPublished } from './published.ts';

/**
 * Runs the kit against each counterpart, with a gateway in front of it.
 *
 * @param raceRounds default: the kit's. Fewer for a further way of booking with the same connector
 */
export function describeCounterparts(
  counterparts: readonly Counterpart[],
  { published, raceRounds }: { readonly published: boolean; readonly raceRounds?: number },
): void {
  for (const { name, only, make } of counterparts) {
    describeConformance(
      name,
      async () => {
        const subject = await make();
        return Object.create(subject, {
          facts: { value: { window: fewDays, ...subject.facts } },
          callGateway: { value: gatewayBefore(() => subject.connector) },
          raceRounds: { value: raceRounds },
        });
      },
      { only, ...(published ? { assertReport: assertPublished } : {}) },
    );
  }
}
