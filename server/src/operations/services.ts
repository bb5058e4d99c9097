import type { Channel } from '../db/tables/messages.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { AnyKind } from './kind.ts';
import type { OperationMetrics } from './metrics.ts';
import type { WorkServices } from './work-services.ts';

/** What operations stand on, made once. */
export interface OperationServices extends WorkServices {
  readonly ehrs: EhrRegistry;
  /** The channels that the configuration has a provider for. */
  readonly channels: ReadonlySet<Channel>;
  /** By their names. */
  readonly kinds: ReadonlyMap<string, AnyKind>;
  readonly operationMetrics: OperationMetrics;
}
