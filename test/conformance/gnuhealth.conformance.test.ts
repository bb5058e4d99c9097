import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { fakeSubject } from '../../connectors/gnuhealth/test/subject.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { assertPublished } from './published.ts';

describeConformance(
  'gnuhealth',
  async () => {
    const subject = await fakeSubject();
    return Object.create(subject, { callGateway: { value: gatewayBefore(() => subject.connector) } });
  },
  { assertReport: assertPublished },
);
