import type { AppointmentChanges } from '../appointment-changes.ts';
import type { Appointment } from '../records.ts';
import {
  type CompleteConnector,
  changing,
  type Defects,
  reading,
  type Variant,
  withoutOffset,
} from './broken.test-support.ts';
import type { Subject } from './index.ts';

const hour = 60 * 60 * 1000;

/** Connectors that are wrong about the appointments and changes that they return. Each with the check that must fail. */
export function appointmentReadVariants(correct: Subject): readonly Variant[] {
  return [
    [
      'finds appointments of every care unit',
      'appointments-read',
      'an appointment of another care unit is not found',
      (right) => ({ findAppointments: (_, ids) => right.findAppointments(correct.careUnit, ids) }),
    ],
    [
      'finds an appointment that it was not asked for',
      'appointments-read',
      'finds an appointment by id, exactly as it was created',
      (right) => ({
        findAppointments: async (unit, ids) => {
          const found = await right.findAppointments(unit, ids);
          return [...found, ...found.map((it) => ({ ...it, id: `${it.id}-other` }))];
        },
      }),
    ],
    [
      'ignores the state filter',
      'appointments-read',
      'filters appointments by state',
      (right) => ({ listAppointments: ({ states: _, ...query }) => right.listAppointments(query) }),
    ],
    [
      'ignores the patient filter',
      'appointments-read',
      'filters appointments by patient',
      (right) => ({ listAppointments: ({ patientId: _, ...query }) => right.listAppointments(query) }),
    ],
    [
      'lists appointments adjacent to the range',
      'appointments-read',
      'lists appointments that overlap the range',
      (right) => ({
        listAppointments: ({ range, ...query }) =>
          right.listAppointments({
            ...query,
            ...(range && {
              range: { start: new Date(range.start.getTime() - 1), end: new Date(range.end.getTime() + 1) },
            }),
          }),
      }),
    ],
    [
      'reads times of appointments without their offset',
      'appointments-read',
      'writes and reads the same time in every time zone of the process',
      (right) =>
        reading(right, (it) => ({
          ...it,
          start: withoutOffset(it.start),
          end: it.end && withoutOffset(it.end),
        })),
    ],
    [
      'writes times without their offset',
      'appointments-read',
      'writes and reads the same time in every time zone of the process',
      (right) =>
        changing(right, (it) =>
          it.kind === 'create' ? { ...it, start: withoutOffset(it.start), end: withoutOffset(it.end) } : it,
        ),
    ],
    [
      'reads times in another time zone',
      'appointments-read',
      'finds an appointment by id, exactly as it was created',
      (right) => reading(right, (it) => ({ ...it, start: new Date(it.start.getTime() + hour) })),
    ],
    [
      'leaves out cancelled appointments from the changes',
      'appointment-changes',
      'returns an appointment that was booked, moved and cancelled, as it is',
      (right) =>
        changes(right, (page) => ({
          ...page,
          changes: page.changes.filter(({ appointment }) => appointment.state !== 'cancelled'),
        })),
    ],
    [
      'loses the last change of a page',
      'appointment-changes',
      'misses none in small pages',
      (right) => changes(right, (page) => (page.hasMore ? { ...page, changes: page.changes.slice(0, -1) } : page)),
    ],
    [
      'leaves out the attendance from the changes',
      'appointment-changes',
      'returns attendance that is noted directly in the EHR',
      (right) =>
        changes(right, (page) => ({
          ...page,
          changes: page.changes.map((it) => ({ ...it, appointment: { ...it.appointment, attendance: null } })),
        })),
    ],
    [
      'stays at its position',
      'appointment-changes',
      'continues after the last change, and again from an earlier position',
      (right) => ({
        listAppointmentChanges: async (query) => {
          const page = await right.listAppointmentChanges(query);
          return query.after === undefined ? page : { ...page, next: query.after, hasMore: false };
        },
      }),
    ],
    [
      'starts every page at the first entry',
      'paging',
      'lists each time slot once for any page size',
      (right) => ({ listTimeSlots: ({ after: _, ...query }) => right.listTimeSlots(query) }),
    ],
    [
      'repeats the last entry of a page',
      'paging',
      'lists each appointment once, ordered by start and id',
      (right) => ({
        listAppointments: ({ after, ...query }) =>
          right.listAppointments({ ...query, after: after && { start: after.start, id: '' } }),
      }),
    ],
    [
      'returns an empty page if the last entry of the previous page is gone',
      'paging',
      'continues after a slot that was booked between pages',
      (right) => ({
        listTimeSlots: async ({ after, limit, ...query }) => {
          const all = await right.listTimeSlots({ ...query, limit: 1000 });
          const index = all.findIndex(
            (slot) => slot.start.getTime() === after?.start.getTime() && slot.resourceId === after.resourceId,
          );
          if (after && index === -1) return [];
          return all.slice(index + 1, index + 1 + limit);
        },
      }),
    ],
    [
      'lists appointments by the days of UTC',
      'clock-changes',
      'books slots that begin or end at midnight, and lists them by day',
      (right) => ({
        listAppointments: ({ range, ...query }) =>
          right.listAppointments({ ...query, range: range && { start: utcDay(range.start), end: utcDay(range.end) } }),
      }),
    ],
    [
      'reads appointments from a stale cache',
      'concurrent-edits',
      'a cancellation in the EHR is visible and is kept',
      (right) => {
        const seen = new Map<string, Appointment>();
        return {
          findAppointments: async (_, ids) => ids.flatMap((id) => seen.get(id) ?? []),
          changeAppointments: async (write) => {
            const done = await right.changeAppointments(write);
            for (const it of done) seen.set(it.id, it);
            return done;
          },
        };
      },
    ],
    [
      'calls a patient who did not come cancelled, and no more',
      'concurrent-edits',
      'attendance noted in the EHR is visible beside the state',
      (right) => reading(right, (it) => (it.attendance === 'no_show' ? { ...it, attendance: null } : it)),
    ],
    [
      'overwrites the comment with a stale one',
      'concurrent-edits',
      'a move keeps a comment written in the EHR',
      (right) => changing(right, (it) => (it.kind === 'update' ? { ...it, comment: it.comment ?? 'first' } : it)),
    ],
  ];
}

function utcDay(at: Date): Date {
  return new Date(at.toISOString().slice(0, 10));
}

/** Alters every page of changes. */
function changes(right: CompleteConnector, alter: (page: AppointmentChanges) => AppointmentChanges): Defects {
  return { listAppointmentChanges: async (query) => alter(await right.listAppointmentChanges(query)) };
}
