import type { Connector } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { connector } from './connector.ts';

/** For the tests: the connector of a second gateway, in a process of its own. */
export default (url: string): Promise<Connector> =>
  connector.open({
    emr: 'clinic',
    settings: { base_url: url },
    careUnits: ['clinic', 'annex'].map((id) => ({ id, timeZone: 'Europe/London' })),
    http: plainHttp(),
    now: () => new Date(),
  });
