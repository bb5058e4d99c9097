import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { careSubject } from '../../connectors/care/test/subject.ts';
import { gatewayBefore } from '../../server/src/cli/gateway-before.ts';
import { assertPublished } from './published.ts';

describeConformance(
  'care',
  async () => {
    const subject = await careSubject();
    return Object.create(subject, { callGateway: { value: gatewayBefore(() => subject.connector) } });
  },
  { assertReport: assertPublished },
);
