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
    const now = Date.now();
    const query = {
      patient_id: desk.assignment.patient,
      start: new Date(now).toISOString(),
      end: new Date(now + yearMilliseconds).toISOString(),
      status: ['awaiting_confirmation', 'booked'] as ('awaiting_confirmation' | 'booked')[],
      limit: mostAppointments,
    };
    const unitIds = await desk.careUnitIds();
    const pages = await Promise.all(unitIds.map((id) => desk.at(id).appointments.list(query).firstPage()));
    const all = pages
      .flatMap(({ items }) => items)
      .sort((one, other) => Date.parse(one.start) - Date.parse(other.start));
    const appointments = await appointmentsOf(desk, all.slice(0, mostAppointments));
    const hasMore = all.length > mostAppointments || pages.some(({ nextCursor }) => nextCursor !== null);
    return { appointments, has_more: hasMore };
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
    const { care_unit_id } = await ownAppointment(desk, appointment_id);
    // Shorter than the pause between two codes: the model hears of it at once.
    const sent = await desk.at(care_unit_id).appointments.resendCode(appointment_id, { timeoutMs: 10_000 });
    return { appointment: await shownAppointment(desk, sent) };
  },
});
