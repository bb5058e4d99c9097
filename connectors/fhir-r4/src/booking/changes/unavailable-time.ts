import type { ConnectorError } from '@crossward/connector-kit';
import type { FhirSlot } from '../../fhir.ts';
import { slotPath } from '../../slots/slot-path.ts';
import { NoKnownSlots, timeTaken } from '../write/outcomes.ts';

/**
 * The error for a time without free Slots: whether somebody has it, or no known Slots cover it. A Slot that was taken
 * out of its schedule covers no time.
 *
 * @param offered the Slots of the resource and service, whatever their status is
 */
export function unavailableTime(
  offered: readonly FhirSlot[],
  range: { readonly start: Date; readonly end: Date },
): ConnectorError {
  const inSchedules = offered.filter(({ status }) => status !== 'busy-unavailable' && status !== 'entered-in-error');
  return slotPath(inSchedules, range) ? timeTaken() : new NoKnownSlots();
}
