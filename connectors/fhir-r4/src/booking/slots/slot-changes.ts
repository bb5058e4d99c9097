import { type ChangeKind, changeKinds } from '@crossward/connector-kit';
import type { FhirSettings } from '../../settings.ts';

/**
 * The supported changes if the connector writes the Slots itself.
 *
 * @param canChange whether this booking mode can change an existing Appointment
 */
export function slotChanges(
  canChange: boolean,
  { booking: { hold = 'auto' } = {} }: FhirSettings,
): readonly ChangeKind[] {
  // A hold that cannot be confirmed would lose the booking after the correct code.
  if (!canChange) return ['create'];
  return hold === false ? ['create', 'update', 'cancel'] : changeKinds;
}
