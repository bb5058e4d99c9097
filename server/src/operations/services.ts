import type { AuditTrail } from '../audit/trail.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { AnyKind } from './kind.ts';
import type { OperationMetrics } from './metrics.ts';
import type { WorkServices } from './work-services.ts';

/** Services that operations use, created once at start. */
export interface OperationServices extends WorkServices {
  readonly ehrs: EhrRegistry;
  /** Channels with a configured provider. */
  readonly channels: ReadonlySet<Channel>;
  /** By name. */
  readonly kinds: ReadonlyMap<string, AnyKind>;
  readonly operationMetrics: OperationMetrics;
  /** Ids of the operations that this process is running. They end long before their lease. */
  readonly running: Set<string>;
  readonly audit: AuditTrail;
}
