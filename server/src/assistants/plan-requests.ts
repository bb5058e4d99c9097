import type { Appointment, AppointmentCreation, AppointmentUpdate, WriteOptions } from '@crossward/client';
import type { Assignment, Desk } from './desk.ts';
import type { FoundTime, KeyedPlan } from './references.ts';

/** The booking of a time, as the dry run and the write send it. */
export function creationOf(time: FoundTime, { patient }: Assignment): AppointmentCreation {
  return {
    patient_id: patient,
    resource_id: time.resourceId,
    healthcare_service_id: time.serviceId,
    start_time: time.start,
    end_time: time.end,
  };
}

/** The move to a time, as the dry run and the write send it. */
export function moveTo({ start, end, resourceId }: FoundTime): AppointmentUpdate {
  return { start, end, resource_id: resourceId };
}

/**
 * Performs a plan under its key: at most once, however often it is called. Returns the appointment as it is now, which may have
 * been changed since the first call.
 */
export async function sendPlan(desk: Desk, plan: KeyedPlan): Promise<Appointment> {
  let isReplayed = false;
  const onReplay = () => {
    isReplayed = true;
  };
  const written = await write(desk, plan, { idempotencyKey: plan.key, onReplay });
  return isReplayed ? desk.at(written.care_unit_id).appointments.get(written.id) : written;
}

function write({ at, assignment }: Desk, plan: KeyedPlan, options: WriteOptions): Promise<Appointment> {
  const { appointments } = at(plan.action === 'book' ? plan.time.careUnitId : plan.careUnitId);
  switch (plan.action) {
    case 'book':
      return appointments.create(creationOf(plan.time, assignment), options);
    case 'move':
      return appointments.update(plan.appointmentId, moveTo(plan.time), options);
    case 'cancel':
      return appointments.cancel(plan.appointmentId, {}, options);
  }
}
