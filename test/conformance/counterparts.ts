import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import type { Counterpart } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { fewDays } from '../requests/few-days.ts';
import { assertPublished } from './published.ts';

/** Runs the kit against each counterpart, with a gateway in front of it. */
export function describeCounterparts(
  counterparts: readonly Counterpart[],
  { published }: { published: boolean },
): void {
  for (const { name, only, make } of counterparts) {
    describeConformance(
      name,
      async () => {
        const subject = await make();
        return Object.create(subject, {
          facts: { value: { window: fewDays, ...subject.facts } },
          callGateway: { value: gatewayBefore(() => subject.connector) },
          // Ten rounds: races.chaos.test.ts.
          raceRounds: { value: 3 },
        });
      },
      { only, ...(published ? { assertReport: assertPublished } : {}) },
    );
  }
}
