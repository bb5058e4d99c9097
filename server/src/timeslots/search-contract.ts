import Type from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { ehrReadReasons } from '../api/route-reasons.ts';
import {
  choice,
  dateTime,
  emrId,
  modality,
  nullableInteger,
  nullableString,
  reference,
  resourceNotation,
  text,
} from '../api/schemas.ts';
import { longestAge } from '../slot-search/kept.ts';

/** Care units that one search can name. */
export const mostCareUnits = 200;

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

const timeOfDay = (description: string) =>
  Type.Optional(Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$', description }));

export const timeslotSearchBody = Type.Object(
  {
    care_units: Type.Optional(
      Type.Array(
        Type.Object(
          {
            emr: text({ minLength: 1 }),
            care_unit_id: text({ minLength: 1 }),
            healthcare_service_ids: Type.Optional(
              Type.Array(text({ minLength: 1 }), {
                description: 'Only these healthcare services of the care unit, instead of `service`. Absent: all.',
                minItems: 1,
                maxItems: 100,
              }),
            ),
          },
          { additionalProperties: false },
        ),
        {
          description: `Where to look. Absent: in every care unit that the client is granted, at most ${mostCareUnits}.`,
          minItems: 1,
          maxItems: mostCareUnits,
        },
      ),
    ),
    service: Type.Optional(
      text({
        minLength: 1,
        maxLength: 300,
        description:
          'What the appointment is for, in every care unit that has it: a `service` of `GET /api/services`. Absent: anything.',
      }),
    ),
    start: dateTime('Start of the range.'),
    end: dateTime('End of the range, at most 92 days after `start`.'),
    resource_ids: Type.Optional(
      Type.Array(resourceNotation('Only slots of these resources. A care unit that has none of them has no slots. '), {
        minItems: 1,
        maxItems: 100,
      }),
    ),
    modality: Type.Optional(choice(['in_person', 'phone', 'video'], { description: 'Only slots that say so.' })),
    weekdays: Type.Optional(
      Type.Array(choice(weekdays), { description: "In the care unit's time zone. Absent: every day.", minItems: 1 }),
    ),
    time_of_day: Type.Optional(
      Type.Object(
        {
          start: timeOfDay('`hh:mm`: slots start then or later. Default: `00:00`.'),
          end: timeOfDay('`hh:mm`: slots end then or earlier, on the day on which they start. Default: `24:00`.'),
        },
        { description: "Part of the day in the care unit's time zone.", additionalProperties: false },
      ),
    ),
    per_care_unit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Only the first slots of each care unit. Absent: all.' }),
    ),
    max_age_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: longestAge,
        description:
          'How old what is shown may be. Default: 60. 0: every EHR is asked now. A time that was booked through the gateway is never shown.',
      }),
    ),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: 'Milliseconds to wait for EHRs. Default: 3,000. Those that take longer are in `unanswered`.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of slots on a page. Default: 100.' }),
    ),
    cursor: pagingQuery.cursor,
  },
  { $id: 'TimeslotSearch', additionalProperties: false },
);

export const foundTimeslotSchema = Type.Object(
  {
    emr: Type.String(),
    care_unit_id: Type.String(),
    start: Type.String({ format: 'date-time' }),
    end: Type.String({ format: 'date-time' }),
    resource: Type.Object({
      id: emrId,
      name: nullableString({ description: 'Null if the EHR did not name the resource in time.' }),
    }),
    healthcare_service_id: Type.String(),
    modality,
    as_of: Type.String({ format: 'date-time', description: 'When the EHR was asked.' }),
  },
  { $id: 'FoundTimeslot', description: 'A free time slot of one of several care units.' },
);

export const unansweredSchema = Type.Object(
  {
    emr: Type.String(),
    care_unit_id: Type.String(),
    reason: choice([...ehrReadReasons, 'time_slots_changing', 'rate_limited', 'internal_error'], {
      description: 'As in a problem document.',
    }),
    detail: Type.String(),
    retry_after_seconds: nullableInteger({
      description: 'When the same search may find the missing slots. Null: it will not.',
    }),
  },
  { $id: 'UnansweredCareUnit', description: 'A care unit of which slots may be missing, and why.' },
);

export const timeslotSearchSchema = Type.Object({
  timeslots: Type.Array(reference('FoundTimeslot')),
  unanswered: Type.Array(reference('UnansweredCareUnit'), {
    description: 'Care units of which slots may be missing on this page and later ones. Empty: none.',
  }),
  next_cursor: nextCursor,
});
