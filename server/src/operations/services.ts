import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { Outbox } from '../messages/outbox.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AnyKind } from './kind.ts';
import type { OperationMetrics } from './metrics.ts';

/** What operations stand on, made once. */
export interface OperationServices {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly ehrs: EhrRegistry;
  readonly outbox: Outbox;
  /** The channels that the configuration has a provider for. */
  readonly channels: ReadonlySet<Channel>;
  /** By their names. */
  readonly kinds: ReadonlyMap<string, AnyKind>;
  readonly operationMetrics: OperationMetrics;
}
