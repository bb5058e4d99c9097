import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { gatewayBefore } from '../../../server/src/cli/gateway-before.ts';
import { fakes } from '../test/conformance-subjects.ts';

for (const { name, make } of fakes) {
  describeConformance(name, async () => {
    const subject = await make();
    return Object.create(subject, { askGateway: { value: gatewayBefore(() => subject.connector) } });
  });
}
