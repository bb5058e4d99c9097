import { findBookings, findItems, type Item, isGatewayId, isOfPatient } from '../confirmations/items.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { type Place, type Problem, problemAt } from '../problems/problem.ts';
import type { WorkServices } from '../writes/write-kind.ts';

interface Context {
  readonly services: Pick<WorkServices, 'db' | 'keys'>;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/**
 * Finds the appointment that another record refers to by the caller's id, and returns the EHR's id. An unknown
 * appointment and one of another patient or care unit give the same problem.
 *
 * @throws Problem `appointment_not_found` (400); `appointment_awaiting_confirmation` or `appointment_cancelled` for a
 * draft, which does not exist in the EHR
 */
export async function requireAppointmentOf(
  { services, ehr, careUnit }: Context,
  patientId: string,
  id: string,
  place: Place,
): Promise<string> {
  const notFound = () => problemAt(place, 'appointment_not_found', 'The patient has no appointment with this id here.');
  const item = isGatewayId(id) ? (await findItems(services.db, ehr.id, careUnit.id, [id])).get(id) : undefined;
  if (item?.ehrAppointmentId === null) {
    throw (await isOfPatient(services, ehr.id, item.id, patientId)) ? notInEhr(item, place) : notFound();
  }
  const ehrId = item?.ehrAppointmentId ?? id;
  const found = await ehr.call('findAppointments', careUnit, [ehrId]);
  const appointment = found.find((it) => it.id === ehrId);
  if (appointment?.patientId !== patientId) throw notFound();
  return ehrId;
}

function notInEhr({ isPending }: Item, place: Place): Problem {
  return isPending
    ? problemAt(place, 'appointment_awaiting_confirmation', 'The appointment is not in the EHR until it is confirmed.')
    : problemAt(place, 'appointment_cancelled', 'The appointment was never confirmed and is not in the EHR.');
}

/**
 * The callers' ids of appointments, by the EHR's ids. Only an EHR that cannot hold a time has appointments that callers
 * know by the id of a draft.
 */
export async function callersAppointmentIds(
  { services, ehr, careUnit }: Context,
  ehrIds: readonly string[],
): Promise<(ehrId: string) => string> {
  if (ehr.capabilities.changes.includes('confirm')) return (ehrId) => ehrId;
  const bookings = await findBookings(services.db, ehr.id, careUnit.id, [...new Set(ehrIds)]);
  return (ehrId) => bookings.get(ehrId)?.id ?? ehrId;
}
