import type { AppointmentChanges, AppointmentChangesQuery } from '@crossward/connector-kit';
import { type Change, changedAppointment, markOf, readFeed } from '@crossward/connector-kit/rest';
import { appointment, appointmentKind, type EhrAppointment, searchPath } from './appointment-reads.ts';
import type { At, Clinic } from './clinic.ts';
import { listAll } from './records.ts';

/** A change can be seen some seconds after its time stamp, when the transaction that made it ends. */
const overlapMilliseconds = 60_000;

interface FoundChange extends Change {
  readonly unit: At;
  readonly found: EhrAppointment;
}

/** The EHR lists what has changed since a time, also what was deleted. */
export async function listAppointmentChanges(
  clinic: Clinic,
  { careUnits, after, limit }: AppointmentChangesQuery,
): Promise<AppointmentChanges> {
  const { fresh, since, ...position } = await readFeed<FoundChange>({
    after,
    limit,
    now: clinic.now(),
    overlapMilliseconds,
    async read(from) {
      const changes = (await Promise.all(careUnits.map((it) => changedSince(clinic.at(it), from)))).flat();
      return { changes: changes.sort((a, b) => a.at - b.at), isCut: false };
    },
  });
  const changes = fresh.map(({ unit, found, at }) =>
    changedAppointment(appointment(unit, found), at, new Date(found.created), since),
  );
  return { changes, ...position };
}

async function changedSince(unit: At, since: Date): Promise<readonly FoundChange[]> {
  const search = { ...unit.unit, since: since.toISOString() };
  const found = await listAll(unit, searchPath, search, appointmentKind);
  return found.map((it) => ({
    at: Date.parse(it.changed),
    mark: markOf(unit.careUnit.id, it.id, it.version),
    unit,
    found: it,
  }));
}
