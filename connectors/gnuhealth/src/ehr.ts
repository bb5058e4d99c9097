import type { ConnectorContext } from '@crossward/connector-kit';
import { createDirectory, type GnuHealthDirectory } from './directory.ts';
import { createRpcClient, type RpcClient } from './rpc/client.ts';
import type { GnuHealthSettings } from './settings.ts';

/** What the operations share. */
export interface Ehr {
  readonly rpc: RpcClient;
  readonly settings: GnuHealthSettings;
  readonly directory: GnuHealthDirectory;
  /** The gateway's time. */
  now(): Date;
}

/** @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<GnuHealthSettings>): Ehr {
  const { http, settings, careUnits, now } = context;
  const rpc = createRpcClient(http, settings, now, (record) => context.leftOut?.(record));
  return { rpc, settings, now, directory: createDirectory(rpc, settings, careUnits) };
}
