import type { AppointmentChanges, AppointmentChangesQuery } from '@crossward/connector-kit';
import {
  type Change,
  changedAppointment,
  compareKeys,
  instantIn,
  markOf,
  readFeed,
} from '@crossward/connector-kit/rest';
import { isShown, type Row, readRow, toAppointment } from './appointments.ts';
import { type Ehr, serverTime } from './ehr.ts';

/** A change shows when its transaction ends, and its time is set before. */
const overlapMilliseconds = 2 * 60_000;
/** The most changes that OSCAR sends. */
const most = 5000;
/** So many more are read, because the last ones may have to be left out. */
const slack = 100;

interface ChangedRow extends Change {
  readonly row: Row;
}

/** Rows that staff have deleted are not told: OSCAR does not date a deletion. */
export async function listAppointmentChanges(ehr: Ehr, query: AppointmentChangesQuery): Promise<AppointmentChanges> {
  const { careUnits, after, limit } = query;
  const { fresh, since, ...position } = await readFeed<ChangedRow>({
    ...{ after, limit, overlapMilliseconds },
    now: await serverTime(ehr),
    read: (from, atLeast = most) => changesSince(ehr, from, atLeast),
  });
  const units = await Promise.all(
    careUnits.map(async (it) => ({ unit: ehr.at(it), lists: await ehr.at(it).lists.get() })),
  );
  const told = fresh.map(({ row, at }) => {
    const createdAt = instantIn(row.fields.createDateTime);
    const changes = units
      .filter(({ unit }) => isShown(unit, row))
      .map(({ unit, lists }) => changedAppointment(toAppointment(unit, lists, row), at, createdAt, since));
    return { id: row.id, changes };
  });
  return {
    changes: told.flatMap(({ changes }) => changes),
    hidden: told.filter(({ changes }) => changes.length === 0).map(({ id }) => id),
    ...position,
  };
}

/** Times have whole seconds, and those of one second have no order: of the last one before a cut, some may be missing. */
async function changesSince(ehr: Ehr, from: Date, atLeast: number) {
  const before = new Date(Math.floor(from.getTime() / 1000) * 1000 - 1000);
  for (let count = Math.min(most, atLeast + slack); ; count = Math.min(most, count * 2)) {
    const found = await ehr.client.ask('Schedule.getAppointmentsUpdatedAfterDate', before, count, true);
    const changes = found.flatMap((it) => readRow(ehr, it) ?? []).map(changeOf);
    changes.sort((a, b) => compareKeys([a.at, a.mark], [b.at, b.mark]));
    if (found.length < count) return { changes, isCut: false };
    const complete = changes.filter(({ at }) => at !== changes.at(-1)?.at);
    if (complete.length >= atLeast) return { changes: complete, isCut: true };
    if (count === most) return { changes: complete.length > 0 ? complete : changes, isCut: true };
  }
}

/** Several changes in one second have one time. */
function changeOf(row: Row): ChangedRow {
  const { id, fields } = row;
  const content = Object.entries(fields).sort().flat();
  return { at: instantIn(fields.updateDateTime)?.getTime() ?? 0, mark: markOf(id, ...content), row };
}
