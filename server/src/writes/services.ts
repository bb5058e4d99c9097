import type { Db } from '../db/kysely.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { Channel, Outbox } from '../messages/outbox.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { GatewayProcess } from './gateway-process.ts';

/** What writes stand on, made once. */
export interface WriteServices {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly ehrs: EhrRegistry;
  readonly outbox: Outbox;
  /** The channels that the configuration has a provider for. */
  readonly channels: ReadonlySet<Channel>;
  readonly process: GatewayProcess;
  /** Tells those who run the gateway of a write whose outcome nobody will ever know. */
  onOutcomeLost(write: { readonly operationId: string; readonly emr: string }): void;
}
