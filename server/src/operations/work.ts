import type { ConnectorOperation, ConnectorOperations } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { ehrOperationId } from './ids.ts';
import type { Work } from './kind.ts';
import { renewLease } from './lease.ts';
import type { OperationServices } from './services.ts';
import { markCompensating } from './store-plan.ts';
import type { Leased } from './stored-operation.ts';

/** How much longer a lease is than the longest call under it. */
const marginSeconds = 5;

/** A lease outlasts one call to the EHR, its wait for a turn included. */
export function leaseSeconds({ patience }: Pick<EhrConnection, 'patience'>): number {
  return patience.callSeconds + marginSeconds;
}

/** An operation at work, in this process. */
export interface Run extends Work {
  readonly services: OperationServices;
  readonly operation: Leased;
  /** Somebody waits for the answer, and is told when it is not known. Else background work comes back. */
  readonly hasCaller: boolean;
  /** Something was taken back: the EHR must be given other ids the next time. */
  readonly wasCompensated: boolean;
  /** A request of it may still be on its way to the EHR, which would do it a second time. */
  readonly mayBeRepeated: boolean;
}

interface Place {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** @param leasedAt when the lease was asked for, by `performance.now()` */
export function startRun(
  services: OperationServices,
  { ehr, careUnit }: Place,
  operation: Leased,
  {
    expiresAt,
    isFirst,
    hasCaller,
    leasedAt,
  }: Pick<Run, 'expiresAt' | 'isFirst' | 'hasCaller'> & { readonly leasedAt: number },
): Run {
  let leaseBegan = leasedAt;
  let wasCompensated = false;
  let hadNoResponse = false;

  async function call<Operation extends ConnectorOperation>(
    name: Operation,
    ...input: Parameters<ConnectorOperations[Operation]>
  ) {
    const usedSeconds = (performance.now() - leaseBegan) / 1000;
    if (usedSeconds > marginSeconds) {
      leaseBegan = performance.now();
      await renewLease(services.db, operation, leaseSeconds(ehr));
    }
    return ehr.call(name, ...input);
  }

  return {
    services,
    ehr,
    careUnit,
    clientId: operation.clientId,
    operationId: operation.id,
    operation,
    expiresAt,
    isFirst,
    hasCaller,
    ehrId: (part) => ehrOperationId(operation.id, operation.attempt, part),
    call: call as EhrConnection['call'],
    async compensating() {
      if (wasCompensated) return;
      await markCompensating(services.db, operation);
      wasCompensated = true;
    },
    get wasCompensated() {
      return wasCompensated;
    },
    onNoResponse() {
      hadNoResponse = true;
    },
    get mayBeRepeated() {
      return hadNoResponse || (!isFirst && ehr.isOpen && ehr.capabilities.repeatsLateWrites === true);
    },
  };
}
