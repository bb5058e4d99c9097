import { appointmentTime } from '../../../mappers/appointment.ts';
import type { BookingConnection } from '../../../server/connection.ts';
import type { FreeTimeSource } from '../../../slots/list.ts';
import { bookableServices } from './open-times.ts';
import { findProposals } from './proposals.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Free times that Medplum's `$find` proposes. */
export function proposedTimes(ehr: BookingConnection): FreeTimeSource {
  return async (directory, schedules, query) => {
    // One search ignores one appointment, so each appointment gets its own search.
    const ignored = [undefined, ...(query.freeing ?? []).map((id) => `Appointment/${id}`)];
    const wanted = ({ id }: { readonly id: string }) =>
      query.healthcareServiceIds === undefined || query.healthcareServiceIds.includes(id);
    const questions = schedules.flatMap((schedule) =>
      bookableServices(directory, schedule)
        .filter(wanted)
        .flatMap(({ id, reference }) => ignored.map((ignoring) => ({ id, schedule, service: reference, ignoring }))),
    );
    return async ({ start, before }) => {
      // A time that starts in the range may end after it.
      const end = new Date(before.getTime() + dayMilliseconds);
      const found = await Promise.all(
        questions.map(async ({ id, ...question }) => {
          const { resourceId } = directory.offerOfSchedule(question.schedule) ?? {};
          if (resourceId === undefined) return [];
          const proposals = await findProposals(ehr, { ...question, start, end });
          return proposals.flatMap((it) => {
            const time = appointmentTime(it);
            return time && time.start >= start && time.start < before
              ? [{ ...time, resourceId, serviceIds: [id] }]
              : [];
          });
        }),
      );
      return found.flat();
    };
  };
}
