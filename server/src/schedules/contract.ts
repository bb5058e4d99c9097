import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { dateTime, emrId, localDateTime, nullableInteger, nullableString, reference, text } from '../api/schemas.ts';

const slotMinutes = { minimum: 5, maximum: 24 * 60 };

const periodSchema = Type.Object({
  start: Type.String({ format: 'date-time' }),
  end: Type.String({ format: 'date-time' }),
});

export const scheduleSchema = Type.Object(
  {
    id: Type.String(),
    resource_id: emrId,
    healthcare_service_ids: Type.Array(Type.String(), { description: 'Healthcare services that can be booked.' }),
    start: nullableString({
      format: 'date-time',
      description:
        "Start of the first occurrence. RFC 3339, with the care unit's UTC offset. For a schedule that the EHR describes by its time slots alone: start of the period that they cover, or null.",
    }),
    end: nullableString({
      format: 'date-time',
      description: 'End of the first occurrence, or of the period that the time slots cover.',
    }),
    slot_minutes: nullableInteger({ description: 'Length of a time slot. Null if the EHR does not say.' }),
    recurrence: nullableString({
      description:
        'Recurrence rule of RFC 5545 without the `RRULE:` prefix, in local time of the care unit. Null: the schedule occurs once.',
    }),
    ends_at: nullableString({
      format: 'date-time',
      description:
        'Set when the schedule was ended: no occurrence starts at or after this instant, whatever `recurrence` says.',
    }),
    exceptions: Type.Array(periodSchema, { description: 'Periods without time slots.' }),
  },
  { $id: 'Schedule', description: 'When a resource can be booked: a period of a day, cut into time slots.' },
);
export type ScheduleBody = Static<typeof scheduleSchema>;

export const scheduleListSchema = Type.Object({
  schedules: Type.Array(reference<ScheduleBody>('Schedule')),
  next_cursor: nextCursor,
});

export const scheduleQuery = {
  start: Type.Optional(
    dateTime('Start of the range; requires `end`. Returns schedules with an occurrence that overlaps the range.'),
  ),
  end: Type.Optional(dateTime('End of the range, at most 366 days after `start`; requires `start`.')),
  ...pagingQuery,
};

export const scheduleCreationSchema = Type.Object(
  {
    start_time: localDateTime('Start of the first occurrence.'),
    end_time: localDateTime('End of the first occurrence, at most 24 hours after its start.'),
    slot_minutes: Type.Integer({
      ...slotMinutes,
      description: 'Length of a time slot. `end_time` must be a whole number of slots after `start_time`.',
    }),
    healthcare_service_ids: Type.Array(text({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Healthcare services that can be booked. The resource must offer them.',
    }),
    recurrence: Type.Optional(
      text({
        minLength: 1,
        maxLength: 500,
        description:
          'Recurrence rule of RFC 5545 without the `RRULE:` prefix, such as `FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959`. `FREQ` is `DAILY`, `WEEKLY`, `MONTHLY` or `YEARLY`. Requires `UNTIL` (UTC or local time of the care unit) or `COUNT`, and ends within ten years. With `BYMONTH`, `BYMONTHDAY`, `BYYEARDAY`, `BYWEEKNO` or `BYSETPOS`, or with `FREQ=YEARLY` and `BYDAY`, it has at most 1000 occurrences. `start_time` must be an occurrence. Absent: the schedule occurs once.',
      }),
    ),
  },
  { $id: 'ScheduleCreation', additionalProperties: false },
);
export type ScheduleCreationBody = Static<typeof scheduleCreationSchema>;

export const scheduleEndSchema = Type.Object(
  { end_time: localDateTime('Occurrences that start at or after this time are removed. In the future.') },
  { $id: 'ScheduleEnd', additionalProperties: false },
);

export const scheduleExceptionSchema = Type.Object(
  {
    start_time: localDateTime('Start of the period without time slots. In the future.'),
    end_time: localDateTime('End of the period, at most 366 days after its start.'),
  },
  { $id: 'ScheduleException', additionalProperties: false },
);
export type ScheduleExceptionBody = Static<typeof scheduleExceptionSchema>;
