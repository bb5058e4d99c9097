import type { ConnectorContext } from '@crossward/connector-kit';
import { createDirectory } from './directory.ts';
import type { Ehr } from './ehr.ts';
import { createRpcClient } from './rpc/client.ts';
import type { GnuHealthSettings } from './settings.ts';

/** @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr({ http, settings, careUnits, now }: ConnectorContext<GnuHealthSettings>): Ehr {
  const rpc = createRpcClient(http, settings, now);
  return { rpc, settings, now, directory: createDirectory(rpc, settings, careUnits, now) };
}
