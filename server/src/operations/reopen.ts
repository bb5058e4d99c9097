import type { AnyKind } from './kind.ts';
import type { OperationServices } from './services.ts';
import type { Stored } from './stored-operation.ts';
import { type Run, startRun } from './work.ts';

/**
 * Starts a run of a stored operation.
 *
 * @throws Error when its kind, EHR or care unit is no longer configured
 */
export async function reopen(
  services: OperationServices,
  stored: Stored,
  how: { readonly leasedAt: number; readonly hasCaller: boolean },
): Promise<{ readonly run: Run; readonly kind: AnyKind }> {
  const ehr = services.ehrs.get(stored.emr);
  const careUnit = ehr?.careUnits.get(stored.careUnitId);
  const kind = services.kinds.get(stored.kind ?? '');
  if (!ehr || !careUnit || !kind)
    throw new Error('A stored operation has a kind, EHR or care unit that is not configured');
  const { expiresAt, plan } = stored;
  const patients = kind.patientsOf(plan);
  return { run: startRun(services, { ehr, careUnit }, stored, { expiresAt, isFirst: false, patients, ...how }), kind };
}
