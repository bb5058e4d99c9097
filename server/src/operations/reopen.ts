import type { AnyKind } from './kind.ts';
import type { OperationServices } from './services.ts';
import type { Stored } from './stored-operation.ts';
import { type Run, startRun } from './work.ts';

/**
 * A run of an operation that was begun before.
 *
 * @throws Error when nobody knows the kind, the EHR or the care unit any more
 */
export async function reopen(
  services: OperationServices,
  stored: Stored,
  how: { readonly leasedAt: number; readonly hasCaller: boolean },
): Promise<{ readonly run: Run; readonly kind: AnyKind }> {
  const ehr = services.ehrs.get(stored.emr);
  const careUnit = ehr?.careUnits.get(stored.careUnitId);
  const kind = services.kinds.get(stored.kind ?? '');
  if (!ehr || !careUnit || !kind) throw new Error('A stored operation is of a kind, EHR or care unit that is gone');
  return {
    run: startRun(services, { ehr, careUnit }, stored, { expiresAt: stored.expiresAt, isFirst: false, ...how }),
    kind,
  };
}
