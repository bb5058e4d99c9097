import type { AppointmentChanges, AppointmentChangesQuery, CareUnit } from '@crossward/connector-kit';
import { type Change, markOf, readFeed } from '@crossward/connector-kit/rest';
import { appointment, appointmentKind, type EhrAppointment, searchPath } from './appointment-reads.ts';
import type { Clinic } from './clinic.ts';
import { listAll } from './records.ts';

/** A change can be seen some seconds after its time stamp, when the transaction that made it ends. */
const overlapMilliseconds = 60_000;

interface ChangedAppointment extends Change {
  readonly careUnit: CareUnit;
  readonly found: EhrAppointment;
}

/** The EHR lists what has changed since a time, also what was deleted. */
export async function listAppointmentChanges(
  clinic: Clinic,
  { careUnits, after, limit }: AppointmentChangesQuery,
): Promise<AppointmentChanges> {
  const { fresh, since, ...position } = await readFeed<ChangedAppointment>({
    after,
    limit,
    now: clinic.now(),
    overlapMilliseconds,
    async read(from) {
      const changes = (await Promise.all(careUnits.map((it) => changedSince(clinic, it, from)))).flat();
      return { changes: changes.sort((a, b) => a.at - b.at), isCut: false };
    },
  });
  const changes = fresh.map(({ careUnit, found, at }) => {
    const createdAt = new Date(found.created);
    return {
      appointment: appointment(careUnit, found),
      changedAt: new Date(at),
      ...(createdAt >= since ? { createdAt } : {}),
    };
  });
  return { changes, ...position };
}

async function changedSince(clinic: Clinic, careUnit: CareUnit, since: Date): Promise<readonly ChangedAppointment[]> {
  const search = { ...clinic.unitOf(careUnit), since: since.toISOString() };
  const found = await listAll(clinic, searchPath, search, appointmentKind);
  return found.map((it) => ({
    at: Date.parse(it.changed),
    mark: markOf(careUnit.id, it.id, it.version),
    careUnit,
    found: it,
  }));
}
