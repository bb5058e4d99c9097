import type { AppointmentChanges, AppointmentChangesQuery } from '@crossward/connector-kit';
import { type Change, changedAppointment, instantIn, markOf, readFeed } from '@crossward/connector-kit/rest';
import { bookingPath, callsFor, readBooking, toAppointment } from './appointments.ts';
import type { At, Ehr } from './ehr.ts';
import type { CareBooking } from './records.ts';

/** A booking shows up to some seconds after its `modified_date`, when its transaction ends. The clocks can differ, too. */
const overlapMilliseconds = 5 * 60_000;

interface ChangedBooking extends Change {
  readonly booking: CareBooking;
  readonly unit: At;
}

/** Bookings are never deleted, and CARE lists those that were changed last first. */
export async function listAppointmentChanges(ehr: Ehr, query: AppointmentChangesQuery): Promise<AppointmentChanges> {
  const { careUnits, after, limit } = query;
  const { fresh, since, ...position } = await readFeed<ChangedBooking>({
    ...{ after, limit, overlapMilliseconds },
    now: ehr.now(),
    read: async (from) => {
      const changes = (await Promise.all(careUnits.map((it) => changesSince(ehr.at(it), from.getTime())))).flat();
      return { changes: changes.sort((a, b) => a.at - b.at), isCut: false };
    },
  });
  const changes = fresh.map(({ booking, unit, at }) =>
    changedAppointment(toAppointment(unit, booking), at, instantIn(booking.created_date), since),
  );
  return { changes, ...position };
}

async function changesSince(at: At, since: number): Promise<readonly ChangedBooking[]> {
  const { resources } = await at.lists.get();
  const found = new Map<string, ChangedBooking>();
  for (const call of callsFor(resources)) {
    // A booking that is changed meanwhile moves to the first page, and moves the others on: so the first is read again.
    for (let pages = 0, round = 1; round <= 2; round++) {
      for await (const page of at.client.pages(bookingPath(at), call)) {
        pages++;
        const changes = page.flatMap((it) => readBooking(at, it) ?? []).map((it) => changeOf(at, it));
        const recent = changes.filter((it) => it.at >= since);
        for (const it of recent) found.set(it.mark, it);
        if (recent.length < changes.length || round === 2) break;
      }
      if (pages <= 1) break;
    }
  }
  return [...found.values()];
}

function changeOf(unit: At, booking: CareBooking): ChangedBooking {
  const { id, modified_date: modified = '' } = booking;
  return { at: instantIn(modified)?.getTime() ?? 0, mark: markOf(unit.careUnit.id, id, modified), booking, unit };
}
