import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { runningServers } from '../../connectors/fhir-r4/counterparts/running-server.ts';
import { fakes, onRunning } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';

for (const { name, make } of [...fakes, ...runningServers().map((server) => onRunning(server))]) {
  describeConformance(name, async () => {
    const subject = await make();
    return Object.create(subject, { askGateway: { value: gatewayBefore(() => subject.connector) } });
  });
}
