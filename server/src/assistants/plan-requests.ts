import type { Appointment, AppointmentCreation, AppointmentUpdate } from '@crossward/client';
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
export function moveOf({ start, end, resourceId }: FoundTime): AppointmentUpdate {
  return { start, end, resource_id: resourceId };
}

/** Performs a plan under its key: at most once, however often it is called. */
export function perform({ careUnit, assignment }: Desk, plan: KeyedPlan): Promise<Appointment> {
  const { appointments } = careUnit;
  const options = { idempotencyKey: plan.key };
  switch (plan.action) {
    case 'book':
      return appointments.create(creationOf(plan.time, assignment), options);
    case 'move':
      return appointments.update(plan.appointmentId, moveOf(plan.time), options);
    case 'cancel':
      return appointments.cancel(plan.appointmentId, {}, options);
  }
}
