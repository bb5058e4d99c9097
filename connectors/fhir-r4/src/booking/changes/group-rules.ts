import { ConnectorError } from '@crossward/connector-kit';
import type { FhirAppointment } from '../../fhir.ts';
import { type AppointmentDialect, standingOf } from '../../mappers/appointment.ts';
import { patientIn, viewOf, withMark, withoutPatient } from '../../mappers/group.ts';
import { assertNotStarted, type ChangeOfExisting, type Ruling, ruleOn } from './rules.ts';

/**
 * Applies a change of one patient's appointment. If other patients share the Appointment, it stays the same for them: a
 * cancellation declines for this patient, and nothing else can be changed.
 *
 * @param operationKey marks the patient whose appointment the write changes
 * @throws ConnectorError if the state does not allow the change; `unsupported` for a change that would affect the
 * others
 */
export function ruleOnPatient(
  appointment: FhirAppointment,
  change: ChangeOfExisting,
  { dialect, now, operationKey }: { dialect: AppointmentDialect; now: Date; operationKey: string },
): Ruling {
  const patient = patientIn(appointment, change.appointmentId);
  if (!patient) return ruleOn(appointment, change, dialect, now);
  const { patientId, hasOthers } = patient;
  const view = viewOf(appointment, change.appointmentId);
  const isOver = view === undefined || standingOf(view, now).state === 'cancelled';
  const marked = (after: FhirAppointment) => withMark(after, patientId, operationKey);
  if (!hasOthers && !isOver) {
    const ruling = ruleOn(appointment, change, dialect, now);
    return { ...ruling, after: marked(ruling.after) };
  }
  if (change.kind !== 'cancel' && change.kind !== 'release') {
    if (isOver) throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
    throw new ConnectorError('unsupported', 'An appointment of several patients is not changed for one of them');
  }
  if (isOver) return { after: marked(appointment), slots: 'stay' };
  assertNotStarted(appointment);
  return { after: marked(withoutPatient(appointment, patientId)), slots: 'stay' };
}
