import { attendances } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { choice, emrId, nullableChoice, nullableString, reference, text } from '../api/schemas.ts';
import { eventTypes } from '../events/event-types.ts';
import { changedFields, outageCauses } from '../events/new-event.ts';

const dateTime = (description: string) => Type.String({ format: 'date-time', description });
const knownTime = (description: string) =>
  nullableString({ format: 'date-time', description: `${description} Null if the gateway does not know it.` });

export const appointmentEventSchema = Type.Object(
  {
    appointment_id: Type.String({
      description: 'Id of the appointment. In a two-step cancellation: the id of the original.',
    }),
    cancellation_id: nullableString({
      description: 'In a two-step cancellation: the id that awaits or awaited the code. Otherwise null.',
    }),
    status: choice(['booked', 'awaiting_confirmation', 'cancelled'], { description: 'Status of the appointment.' }),
    start: knownTime("Start, with the care unit's UTC offset."),
    end: knownTime("End, with the care unit's UTC offset."),
    resource_id: nullableString({ description: 'As `emr_id:{value}`. Null if the gateway does not know it.' }),
    healthcare_service_id: nullableString({ description: 'Null if the gateway does not know it.' }),
    supersedes_id: Type.Optional(
      Type.String({
        description:
          '`appointment.booked`: the former id, if the EHR cannot move appointments and this one was booked to move another.',
      }),
    ),
    superseded_by_id: Type.Optional(
      Type.String({ description: '`appointment.cancelled`: the new id, if the appointment was moved in this way.' }),
    ),
    changed: Type.Optional(
      Type.Array(choice(changedFields), { description: '`appointment.updated`: names of the changed fields.' }),
    ),
    previous: Type.Optional(
      Type.Object(
        {
          start: dateTime('Former start.'),
          end: nullableString({ format: 'date-time', description: 'Former end.' }),
          resource_id: nullableString(),
        },
        { description: '`appointment.updated`: the former time and resource.' },
      ),
    ),
    attendance: Type.Optional(
      nullableChoice(attendances, { description: '`appointment.attendance_changed`: what the EHR knows now.' }),
    ),
    previous_attendance: Type.Optional(
      nullableChoice(attendances, {
        description:
          '`appointment.attendance_changed`: the former attendance. Absent if the gateway has no earlier event of the appointment.',
      }),
    ),
  },
  { $id: 'AppointmentEvent', description: 'Data of an event of an appointment.' },
);

export const messageEventSchema = Type.Object(
  {
    message_id: Type.String(),
    confirmation_id: Type.String({ description: 'Id of the confirmation whose code was in the message.' }),
    appointment_id: Type.String({ description: 'Id of the first appointment that awaits the code.' }),
    channel: choice(['sms', 'email']),
    reason: nullableString({
      description:
        "Why the last attempt failed: a fixed word, or the provider's status code. Null in `message.delayed` if no attempt has failed yet.",
    }),
  },
  { $id: 'MessageEvent', description: 'Data of an event of a message with a code.' },
);

export const emrEventSchema = Type.Object(
  {
    status: choice(['available', 'unavailable']),
    reason: Type.Optional(
      choice(outageCauses, {
        description:
          '`emr.unavailable`: `failing` if calls to the EHR fail, `paused` if the operators of the gateway have paused it.',
      }),
    ),
    changed: Type.Optional(
      Type.Array(Type.String(), {
        description:
          '`emr.changed`: what the EHR offers otherwise than before, such as `software`, `operations` or `Slot`. For people.',
      }),
    ),
  },
  { $id: 'EmrEvent', description: 'Data of an event of an EHR.' },
);

export const timeslotEventSchema = Type.Object(
  {
    watch_id: Type.String({ description: 'Id of the watch that has found a time.' }),
    start: dateTime("Start of the first slot that was found, with the care unit's UTC offset."),
    end: dateTime("End, with the care unit's UTC offset."),
    resource_id: emrId,
    healthcare_service_id: Type.String(),
    count: Type.Integer({ description: 'How many slots were found. Search again to see all of them.' }),
  },
  {
    $id: 'TimeslotEvent',
    description: 'Data of an event of a watch for time slots. Only the client that has made it gets it.',
  },
);

export const eventSchema = Type.Object(
  {
    id: Type.String({ description: 'Unique. The same in every delivery of the event.' }),
    type: choice([...eventTypes, 'webhook.test'], {
      description: '`webhook.test`: a test, sent to one endpoint only.',
    }),
    timestamp: dateTime('When the gateway recorded it.'),
    emr: Type.String({ description: 'Id of the EHR.' }),
    care_unit_id: nullableString({ description: 'Null if the event concerns the whole EHR.' }),
    data: Type.Unsafe<Record<string, unknown>>({
      anyOf: [
        reference('AppointmentEvent'),
        reference('MessageEvent'),
        reference('EmrEvent'),
        reference('TimeslotEvent'),
      ],
      description:
        '`appointment.*`: an AppointmentEvent. `message.*`: a MessageEvent. `emr.*`: an EmrEvent. `timeslot.found`: a TimeslotEvent. `webhook.test`: empty.',
    }),
  },
  {
    $id: 'Event',
    description:
      'A change of an appointment, a message or an EHR, or a time that has become free. Contains ids, times and statuses, never personal data.',
  },
);
export type EventBody = Static<typeof eventSchema>;

export const eventListSchema = Type.Object({
  events: Type.Array(reference<EventBody>('Event')),
  next_after: Type.String({
    description: 'Send it as `after` to continue. Also set if there are no further events yet.',
  }),
  has_more: Type.Boolean({ description: 'Whether further events can be read at once.' }),
});

export const eventQuery = {
  after: Type.Optional(
    text({
      minLength: 1,
      description: '`next_after` of the previous response. Default: begins with the oldest event.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Maximum number of events.' }),
  ),
};
