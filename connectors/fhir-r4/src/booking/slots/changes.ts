import { type ChangeKind, changeKinds } from '@crossward/connector-kit';
import type { FhirSettings } from '../../settings.ts';

/**
 * What can be done to appointments where the connector writes the Slots itself.
 *
 * @param canChange whether an existing Appointment can be changed in this way to book
 */
export function slotChanges(
  canChange: boolean,
  { booking: { hold = 'auto' } = {} }: FhirSettings,
): readonly ChangeKind[] {
  // A hold that cannot be confirmed would lose the booking after the right code.
  if (!canChange) return ['create'];
  return hold === false ? ['create', 'update', 'cancel'] : changeKinds;
}
