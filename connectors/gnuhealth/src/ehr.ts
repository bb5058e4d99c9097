import type { GnuHealthDirectory } from './directory.ts';
import type { RpcClient } from './rpc/client.ts';
import type { GnuHealthSettings } from './settings.ts';

/** What the operations share. */
export interface Ehr {
  readonly rpc: RpcClient;
  readonly settings: GnuHealthSettings;
  readonly directory: GnuHealthDirectory;
  /** The gateway's time. */
  now(): Date;
}
