import { beganOperation } from '../audit/current-access.ts';
import type { OperationServices } from './services.ts';
import type { Stored } from './stored-operation.ts';
import { type LeasedWork, leasedWork } from './work.ts';

/** A stored operation that this process works on. */
export interface Reopened extends LeasedWork {
  readonly operation: Stored;
  /** Whether its plan reserves holds or codes. */
  readonly reserves: boolean;
}

/** @throws Error when its kind, EHR or care unit is no longer configured */
export function reopen(
  services: OperationServices,
  operation: Stored,
  how: { readonly leasedAt: number; readonly hasCaller: boolean },
): Reopened {
  const ehr = services.ehrs.get(operation.emr);
  const careUnit = ehr?.careUnits.get(operation.careUnitId);
  const kind = services.kinds.get(operation.kind ?? '');
  if (!ehr || !careUnit || !kind)
    throw new Error('A stored operation has a kind, EHR or care unit that is not configured');
  beganOperation(operation.id);
  const { expiresAt, plan } = operation;
  const work = leasedWork(services, operation, { ehr, careUnit, kind, plan, expiresAt, isFirst: false, ...how });
  // The work has getters, which a spread would read now.
  return Object.assign(work, { operation, reserves: kind.reserves?.(work, plan) !== undefined });
}

/** Whether the EHR performs the operation at most once under its id, can still do so, and has not had too long. */
export function mayPerformAgain({ ehr, kind, plan, operation }: Reopened): boolean {
  const canPerform = kind.canPerform?.(ehr, plan) ?? true;
  return canPerform && kind.findsOperations(ehr) && operation.age <= ehr.patience.giveUpSeconds;
}
