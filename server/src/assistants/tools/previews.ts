import type { AppointmentPreview } from '@crossward/client';
import Type, { type Static } from 'typebox';
import type { Desk } from '../desk.ts';
import { ownAppointment } from '../own-appointment.ts';
import { creationOf, moveTo } from '../plan-requests.ts';
import type { FoundTime, Plan } from '../references.ts';
import { timeElsewhere, timeRefInvalid } from '../refusal.ts';
import { appointmentShape, shownAppointment, shownText, strictObject } from '../shapes.ts';
import { hints, tool } from '../tool.ts';

const timeRef = shownText('`time_ref` of find_times, unchanged.');
const appointmentId = shownText('`appointment_id` of an earlier result.');
const output = strictObject({
  plan_ref: shownText('Give it, unchanged, to the tool that does what was previewed.'),
  valid_until: Type.String({ description: 'RFC 3339.' }),
  needs_code: Type.Boolean({
    description: 'Whether it is done only when the person enters a code that is sent to them.',
  }),
  appointment: appointmentShape,
});

export const previewBooking = tool({
  name: 'preview_booking',
  title: 'Preview a booking',
  description: 'Checks whether a time can be booked for the person, and books nothing. Ask the person before you book.',
  hints: hints.reads,
  input: strictObject({ time_ref: timeRef }),
  output,
  async run({ time_ref }, desk) {
    const time = openTime(desk, time_ref);
    const preview = await desk.at(time.careUnitId).appointments.previewCreate(creationOf(time, desk.assignment));
    return planned(desk, { action: 'book', time }, preview);
  },
});

export const previewMove = tool({
  name: 'preview_move',
  title: 'Preview a move',
  description:
    'Checks whether an appointment can be moved to a time, and moves nothing. Ask the person before you move.',
  hints: hints.reads,
  input: strictObject({ appointment_id: appointmentId, time_ref: timeRef }),
  output,
  async run({ appointment_id, time_ref }, desk) {
    const time = openTime(desk, time_ref);
    const { care_unit_id } = await ownAppointment(desk, appointment_id);
    if (time.careUnitId !== undefined && time.careUnitId !== care_unit_id) throw timeElsewhere;
    const preview = await desk.at(care_unit_id).appointments.previewUpdate(appointment_id, moveTo(time));
    return planned(desk, { action: 'move', appointmentId: appointment_id, careUnitId: care_unit_id, time }, preview);
  },
});

export const previewCancel = tool({
  name: 'preview_cancel',
  title: 'Preview a cancellation',
  description: 'Checks whether an appointment can be cancelled, and cancels nothing. Ask the person before you cancel.',
  hints: hints.reads,
  input: strictObject({ appointment_id: appointmentId }),
  output,
  async run({ appointment_id }, desk) {
    const { care_unit_id } = await ownAppointment(desk, appointment_id);
    const preview = await desk.at(care_unit_id).appointments.previewCancel(appointment_id);
    return planned(desk, { action: 'cancel', appointmentId: appointment_id, careUnitId: care_unit_id }, preview);
  },
});

/** @throws Refusal `time_ref_invalid` */
function openTime({ references }: Desk, timeReference: string): FoundTime {
  const time = references.openTime(timeReference);
  if (!time) throw timeRefInvalid;
  return time;
}

async function planned(desk: Desk, plan: Plan, preview: AppointmentPreview): Promise<Static<typeof output>> {
  const { reference: plan_ref, validUntil } = desk.references.sealPlan(plan);
  return {
    plan_ref,
    valid_until: validUntil.toISOString(),
    needs_code: preview.confirmation !== null,
    appointment: await shownAppointment(desk, preview),
  };
}
