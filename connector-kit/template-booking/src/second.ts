import type { Connector, ConnectorContext, EhrHttp, LeftOutRecord } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { connector } from './connector.ts';
import { passwords } from './ehr-data.ts';
import type { Settings } from './settings.ts';

export const careUnits = [
  { id: 'clinic', timeZone: 'Europe/London', settings: { department: 'D1' } },
  { id: 'annex', timeZone: 'Europe/London', settings: { department: 'D2' } },
] as const;

interface Parts {
  readonly http?: EhrHttp;
  readonly user?: string;
  readonly leftOut?: (record: LeftOutRecord) => void;
}

/** For the tests: what the gateway gives to the connector. */
export function contextFor(
  url: string,
  { user = 'gateway', http = plainHttp(), ...parts }: Parts = {},
): ConnectorContext<Settings> {
  const settings = { base_url: url, user, password: { reveal: () => passwords.get(user) ?? '' } };
  return { emr: 'clinic', settings, careUnits, http, now: () => new Date(), ...parts };
}

/** For the tests: the connector of a second gateway, in a process of its own. */
export default (url: string): Promise<Connector> => connector.open(contextFor(url));
