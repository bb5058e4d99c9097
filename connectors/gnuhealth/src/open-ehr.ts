import type { ConnectorContext } from '@crossward/connector-kit';
import { createDirectory } from './directory.ts';
import type { Ehr } from './ehr.ts';
import { createRpcClient } from './rpc/client.ts';
import type { GnuHealthSettings } from './settings.ts';

/** @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<GnuHealthSettings>): Ehr {
  const { http, settings, careUnits, now } = context;
  const rpc = createRpcClient(http, settings, now, (record) => context.leftOut?.(record));
  return { rpc, settings, now, directory: createDirectory(rpc, settings, careUnits) };
}
