import type { Appointment, AppointmentChange, AppointmentCreation } from '@crossward/connector-kit';
import type { EhrWrite } from './ehr-write.ts';
import { type Intent, otherPlans } from './intents.ts';
import type { DoneParts } from './one-by-one.ts';
import type { WriteServices } from './services.ts';

type ChangeOfExisting = Exclude<AppointmentChange, AppointmentCreation>;

/** More than can overlap one time of one patient with one resource. */
const mostOverlapping = 20;

/**
 * For an EHR that does not know operations: the changes that it shows as done, by their index. What is not among them
 * may or may not be done. A new appointment is taken for the one that was asked for when it is the only one of that
 * patient, resource and time, and nothing else that the gateway knows of accounts for it.
 */
export async function findTraces(
  services: WriteServices,
  intent: Intent,
  { ehr, careUnit, changes }: EhrWrite,
): Promise<DoneParts> {
  const ids = changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const found = ids.length > 0 ? await ehr.call('findAppointments', careUnit, ids) : [];
  const standing = new Map(found.map((appointment) => [appointment.id, appointment]));
  const traces = new Map<number, Appointment>();
  for (const [index, change] of changes.entries()) {
    const trace =
      change.kind === 'create' ? await findCreated(change) : asWished(standing.get(change.appointmentId), change);
    if (trace) traces.set(index, trace);
  }
  return traces;

  async function findCreated(creation: AppointmentCreation): Promise<Appointment | undefined> {
    const { patientId, resourceId, start, end, holdUntil } = creation;
    if (!ehr.offers('listAppointments')) return undefined;
    const overlapping = await ehr.call('listAppointments', {
      careUnit,
      patientId,
      resourceId,
      range: { start, end },
      states: [holdUntil === null ? 'booked' : 'held'],
      limit: mostOverlapping,
    });
    const [only, another] = overlapping.filter((it) => isSame(it, creation));
    if (!only || another || (await isAccountedFor(only))) return undefined;
    return only;
  }

  async function isAccountedFor(appointment: Appointment): Promise<boolean> {
    const items = await services.db
      .selectFrom('confirmation_items')
      .select('appointment_id')
      .where('emr', '=', ehr.id)
      .where('ehr_appointment_id', '=', appointment.id)
      .limit(1)
      .execute();
    if (items.length > 0) return true;
    const others = await otherPlans(services.db, services.keys, intent);
    return others.some(
      (plan) => !plan || plan.changes.some((change) => change.kind === 'create' && isSame(appointment, change)),
    );
  }
}

type Booking = Pick<Appointment, 'patientId' | 'resourceId' | 'start' | 'end'>;

function isSame(a: Booking, b: Booking): boolean {
  return a.patientId === b.patientId && a.resourceId === b.resourceId && isSameTime(a, b);
}

function isSameTime(a: Pick<Booking, 'start' | 'end'>, b: Pick<Booking, 'start' | 'end'>): boolean {
  return a.start.getTime() === b.start.getTime() && a.end.getTime() === b.end.getTime();
}

/** The appointment, if it is as the change was to leave it. */
function asWished(appointment: Appointment | undefined, change: ChangeOfExisting): Appointment | undefined {
  return appointment && isAsWished(appointment, change) ? appointment : undefined;
}

function isAsWished(appointment: Appointment, change: ChangeOfExisting): boolean {
  const { state, comment, heldUntil } = appointment;
  switch (change.kind) {
    case 'update':
      return (
        state === 'booked' &&
        (change.time === undefined || isSameTime(appointment, change.time)) &&
        (change.resourceId === undefined || appointment.resourceId === change.resourceId) &&
        (change.comment === undefined || comment === change.comment)
      );
    case 'cancel':
    case 'release':
      return state === 'cancelled' && (change.comment === undefined || comment === change.comment);
    case 'confirm':
      return state === 'booked';
    case 'extend':
      return state === 'held' && heldUntil?.getTime() === change.holdUntil.getTime();
  }
}
