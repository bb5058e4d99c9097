import type { Appointment } from '@crossward/client';
import Type, { type Static } from 'typebox';
import type { Desk } from '../desk.ts';
import { sendPlan } from '../plan-requests.ts';
import type { Plan } from '../references.ts';
import { planRefInvalid } from '../refusal.ts';
import { appointmentShape, shownAppointment, shownText, strictObject } from '../shapes.ts';
import { hints, tool } from '../tool.ts';

const input = strictObject({ plan_ref: shownText('`plan_ref` of the preview, unchanged.') });
const output = strictObject({ appointment: appointmentShape, next: Type.String() });

export const book = tool({
  name: 'book',
  title: 'Book',
  description:
    'Books what preview_booking has checked, after the person has agreed. A repeated call books nothing else.',
  hints: hints.books,
  input,
  output,
  run: ({ plan_ref }, desk) => carryOut(desk, 'book', plan_ref),
});

export const move = tool({
  name: 'move',
  title: 'Move',
  description: 'Moves what preview_move has checked, after the person has agreed. A repeated call moves nothing else.',
  hints: hints.changes,
  input,
  output,
  run: ({ plan_ref }, desk) => carryOut(desk, 'move', plan_ref),
});

export const cancel = tool({
  name: 'cancel',
  title: 'Cancel',
  description: 'Cancels what preview_cancel has checked, after the person has agreed.',
  hints: hints.changes,
  input,
  output,
  run: ({ plan_ref }, desk) => carryOut(desk, 'cancel', plan_ref),
});

/** @throws Refusal `plan_ref_invalid` if it is a plan for another tool, of somebody else, or too old */
async function carryOut(desk: Desk, action: Plan['action'], planReference: string): Promise<Static<typeof output>> {
  const plan = desk.references.openPlan(planReference);
  if (plan?.action !== action) throw planRefInvalid;
  const appointment = await sendPlan(desk, plan);
  return { appointment: await shownAppointment(desk, appointment), next: nextAfter(plan, appointment) };
}

function nextAfter(plan: Plan, { status, confirmation, start }: Appointment): string {
  const planned = plan.action === 'cancel' ? 'cancelled' : 'booked';
  if (status === 'cancelled' && planned === 'booked') {
    return 'Call list_my_appointments, and tell the person that this one has been cancelled and what is there in its place.';
  }
  if (status === 'booked' && planned === 'cancelled') {
    return 'Tell the person that this appointment is not cancelled: no code was entered in time, or it was booked again.';
  }
  if (plan.action !== 'cancel' && start !== plan.time.start) {
    return 'Tell the person that this appointment has been moved since, and the time that it has now.';
  }
  if (status !== 'awaiting_confirmation') return 'Tell the person the result.';
  const how = confirmation?.channel === 'email' ? 'e-mail' : 'SMS';
  return `Tell the person to enter the code that they get by ${how}, and that nothing is done before they do; never ask for the code.`;
}
