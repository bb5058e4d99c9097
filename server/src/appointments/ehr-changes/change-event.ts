import type { Appointment } from '@crossward/connector-kit';
import type { EhrChangeRow } from '../../db/tables/ehr-changes.ts';
import type { NewEvent } from '../../events/new-event.ts';
import { appointmentEvent, updateFacts } from '../events.ts';
import type { ToldState } from './told-state.ts';

/**
 * The event of a change that was made directly in the EHR. `undefined`: the events say so already, or it needs none.
 *
 * @param id the id that callers use
 * @param told `undefined`: the appointment has no events
 */
export function changeEvent(
  context: Parameters<typeof appointmentEvent>[0],
  row: EhrChangeRow,
  id: string,
  told: ToldState | undefined,
): NewEvent | undefined {
  const now = appointmentOf(row);
  const event = (
    ...[type, more]: [Parameters<typeof appointmentEvent>[2]['type'], ReturnType<typeof updateFacts>?]
  ) => ({
    ...appointmentEvent(context, now, { type, id }, more),
    isObserved: true,
  });
  // What is held or proposed is not booked yet.
  if (row.state !== 'booked' && row.state !== 'cancelled') return undefined;
  if (row.state === 'cancelled') {
    // Nobody has heard of an appointment that was booked and cancelled since the last reading.
    const isKnown = told ? told.status !== 'cancelled' : !row.is_new;
    return isKnown ? event('appointment.cancelled') : undefined;
  }
  if (!told) return event(row.is_new ? 'appointment.booked' : 'appointment.updated');
  if (told.status !== 'booked') return event('appointment.booked');
  const { start = now.start, end = now.end, resourceId = now.resourceId } = told;
  const facts = updateFacts(context, { ...now, start, end, resourceId }, now);
  return facts && event('appointment.updated', facts);
}

/** An event needs neither the patient nor the comment. */
function appointmentOf(row: EhrChangeRow): Appointment {
  return {
    id: row.appointment_id,
    careUnitId: row.care_unit_id,
    state: row.state,
    heldUntil: null,
    start: row.starts_at,
    end: row.ends_at,
    resourceId: row.resource_id,
    healthcareServiceId: row.healthcare_service_id,
    patientId: '',
    comment: null,
  };
}
