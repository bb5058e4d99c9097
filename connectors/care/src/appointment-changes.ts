import type { AppointmentChanges, AppointmentChangesQuery, CareUnit } from '@crossward/connector-kit';
import { type Change, instantIn, markOf, readFeed } from '@crossward/connector-kit/rest';
import { bookingPath, callsFor, readBooking, toAppointment } from './appointments.ts';
import type { Ehr } from './ehr.ts';
import type { CareBooking } from './records.ts';

/** A booking shows up to some seconds after its `modified_date`, when its transaction ends. The clocks can differ, too. */
const overlapMilliseconds = 5 * 60_000;

interface ChangedBooking extends Change {
  readonly booking: CareBooking;
  readonly careUnit: CareUnit;
}

/** Bookings are never deleted, and CARE lists those that were changed last first. */
export async function listAppointmentChanges(ehr: Ehr, query: AppointmentChangesQuery): Promise<AppointmentChanges> {
  const { careUnits, after, limit } = query;
  const { fresh, since, ...position } = await readFeed<ChangedBooking>({
    after,
    limit,
    now: ehr.now(),
    overlapMilliseconds,
    read: async (from) => {
      const changes = (await Promise.all(careUnits.map((it) => changesSince(ehr, it, from.getTime())))).flat();
      return { changes: changes.sort((a, b) => a.at - b.at), isCut: false };
    },
  });
  const changes = fresh.map(({ booking, careUnit, at }) => {
    const createdAt = instantIn(booking.created_date);
    return {
      appointment: toAppointment(ehr, careUnit, booking),
      changedAt: new Date(at),
      ...(createdAt && createdAt >= since ? { createdAt } : {}),
    };
  });
  return { changes, ...position };
}

async function changesSince(ehr: Ehr, careUnit: CareUnit, since: number): Promise<readonly ChangedBooking[]> {
  const { resources } = await ehr.lists.of(careUnit);
  const found = new Map<string, ChangedBooking>();
  for (const call of callsFor(resources)) {
    // A booking that is changed meanwhile moves to the first page, and moves the others on: so the first is read again.
    for (let pages = 0, round = 1; round <= 2; round++) {
      for await (const page of ehr.client.pages(bookingPath(ehr, careUnit), call)) {
        pages++;
        const changes = page.flatMap((it) => readBooking(ehr, it) ?? []).map((it) => changeOf(it, careUnit));
        const recent = changes.filter(({ at }) => at >= since);
        for (const it of recent) found.set(it.mark, it);
        if (recent.length < changes.length || round === 2) break;
      }
      if (pages <= 1) break;
    }
  }
  return [...found.values()];
}

function changeOf(booking: CareBooking, careUnit: CareUnit): ChangedBooking {
  const { id, modified_date: modified } = booking;
  return { at: instantIn(modified)?.getTime() ?? 0, mark: markOf(careUnit.id, id, modified ?? ''), booking, careUnit };
}
