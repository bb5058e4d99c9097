import type { AuditTrail } from '../audit/trail.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { WriteMetrics } from './metrics.ts';
import type { AnyKind, WorkServices } from './write-kind.ts';

/** Services that writes use, created once at start. */
export interface WriteServices extends WorkServices {
  readonly ehrs: EhrRegistry;
  /** Channels with a configured provider. */
  readonly channels: ReadonlySet<Channel>;
  /** By name. */
  readonly kinds: ReadonlyMap<string, AnyKind>;
  readonly writeMetrics: WriteMetrics;
  /**
   * Tokens of the leases under which this process is at work: it ends long before they do. Requests with the keys of their
   * writes are told to come back soon.
   */
  readonly liveTokens: Set<string>;
  readonly audit: AuditTrail;
}
