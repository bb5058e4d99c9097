import Type from 'typebox';
import { ownAppointment } from '../own-appointment.ts';
import { appointmentShape, appointmentsOf, shownAppointment, shownText, strictObject } from '../shapes.ts';
import { hints, tool } from '../tool.ts';

const mostAppointments = 20;
const yearMilliseconds = 366 * 24 * 60 * 60 * 1000;

export const listMyAppointments = tool({
  name: 'list_my_appointments',
  title: 'List my appointments',
  description: `Lists the next appointments of the person within a year, at most ${mostAppointments}.`,
  hints: hints.reads,
  input: strictObject({}),
  output: strictObject({
    appointments: Type.Array(appointmentShape),
    has_more: Type.Boolean(),
  }),
  async run(_, desk) {
    const { careUnit, assignment } = desk;
    const now = Date.now();
    const { items, nextCursor } = await careUnit.appointments
      .list({
        patient_id: assignment.patient,
        start: new Date(now).toISOString(),
        end: new Date(now + yearMilliseconds).toISOString(),
        status: ['awaiting_confirmation', 'booked'],
        limit: mostAppointments,
      })
      .firstPage();
    return { appointments: await appointmentsOf(desk, items), has_more: nextCursor !== null };
  },
});

const appointmentId = shownText('`appointment_id` of an earlier result.');

export const getAppointmentTool = tool({
  name: 'get_appointment',
  title: 'Show an appointment',
  description: 'Shows an appointment of the person as it is now: also whether they have entered the code.',
  hints: hints.reads,
  input: strictObject({ appointment_id: appointmentId }),
  output: strictObject({ appointment: appointmentShape }),
  async run({ appointment_id }, desk) {
    return { appointment: await shownAppointment(desk, await ownAppointment(desk, appointment_id)) };
  },
});

export const resendCode = tool({
  name: 'resend_code',
  title: 'Send a new code',
  description:
    'Sends the person a new code for an appointment that awaits one. The code goes to the person alone: never ask for it.',
  hints: hints.sends,
  input: strictObject({ appointment_id: appointmentId }),
  output: strictObject({ appointment: appointmentShape }),
  async run({ appointment_id }, desk) {
    await ownAppointment(desk, appointment_id);
    // Shorter than the pause between two codes: the model hears of it at once.
    const sent = await desk.careUnit.appointments.resendCode(appointment_id, { timeoutMs: 10_000 });
    return { appointment: await shownAppointment(desk, sent) };
  },
});
