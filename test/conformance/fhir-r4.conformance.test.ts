import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { runningServers } from '../../connectors/fhir-r4/counterparts/running-server.ts';
import { type Counterpart, fakes, onRunning } from '../../connectors/fhir-r4/test/conformance-subjects.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { assertPublished } from './published.ts';

function makeBehindGateway({ make }: Counterpart) {
  return async () => {
    const subject = await make();
    return Object.create(subject, { callGateway: { value: gatewayBefore(() => subject.connector) } });
  };
}

for (const fake of fakes) {
  describeConformance(fake.name, makeBehindGateway(fake), { assertReport: assertPublished });
}
for (const server of runningServers().map((it) => onRunning(it))) {
  describeConformance(server.name, makeBehindGateway(server));
}
