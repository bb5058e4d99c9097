import type { Report } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import type { Ehr } from './ehr.ts';
import { idSchema, nullable } from './rpc/rows.ts';

const calendarSchema = Type.Object({
  id: idSchema,
  owner: idSchema,
  read_users: Type.Array(idSchema),
  write_users: Type.Array(idSchema),
});
const professionalSchema = Type.Object({
  id: idSchema,
  'party.': Type.Object({ 'internal_user.': nullable(Type.Object({ calendar: nullable(idSchema) })) }),
});

/**
 * GNU Health keeps an event in the calendar of a health professional who has one, for each appointment that staff have booked,
 * and changes it with the appointment. A user who may not change the event cannot move the appointment either.
 */
export async function probeCalendars({ rpc }: Ehr, institutions: readonly number[], report: Report): Promise<void> {
  const [userId, professionals] = await Promise.all([
    rpc.userId(),
    rpc.searchRead({
      model: 'gnuhealth.healthprofessional',
      row: professionalSchema,
      domain: [
        ['institution', 'in', institutions],
        ['party.internal_user.calendar', '!=', null],
      ],
    }),
  ]);
  const ids = professionals.flatMap((it) => it['party.']['internal_user.']?.calendar ?? []);
  const visible = await rpc.searchRead({
    model: 'calendar.calendar',
    row: calendarSchema,
    domain: [['id', 'in', ids]],
  });
  const writable = new Set(visible.filter((it) => mayWrite(it, userId)).map(({ id }) => id));
  const refused = ids.filter((id) => !writable.has(id)).length;
  if (refused === 0) return report('ok', 'The user may change the calendars of the professionals.');
  const detail =
    `The user may not change the calendars of ${refused} health professionals: the EHR refuses to move the appointments ` +
    'that staff have booked with them. It needs the group Calendar Group Administration.';
  return report('problem', detail);
}

/** A user who sees a calendar of somebody else, without being named as its reader, is an administrator of calendars. */
function mayWrite({ owner, read_users, write_users }: Static<typeof calendarSchema>, userId: number): boolean {
  return owner === userId || write_users.includes(userId) || !read_users.includes(userId);
}
