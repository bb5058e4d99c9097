import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { medplums } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { assertPublished } from './published.ts';

for (const { name, make } of medplums) {
  describeConformance(
    name,
    async () => {
      const subject = await make();
      return Object.create(subject, { callGateway: { value: gatewayBefore(() => subject.connector) } });
    },
    { assertReport: assertPublished },
  );
}
