import type { AppointmentChanges, AppointmentChangesQuery } from '@crossward/connector-kit';
import { type Change, changedAppointment, markOf, readFeed } from '@crossward/connector-kit/rest';
import Type from 'typebox';
import type { Ehr } from '../ehr.ts';
import { equal, type Page } from '../rpc/client.ts';
import { idSchema } from '../rpc/rows.ts';
import { fromRpc, toRpc } from '../rpc/values.ts';
import { bookedSince, type DeletedRow, deletedIds, searchDeletions } from './log.ts';
import { careUnitNames, toAppointment } from './record.ts';
import { type AppointmentRow, searchRowPage } from './rows.ts';

const pageSize = 500;

/**
 * `write_date` is when a transaction began, and the row shows when it ends. So rows from this long ago are read again, and
 * those that were returned are left out.
 */
const overlapMilliseconds = 5 * 60_000;

/** One thing that changed. */
interface RowChange extends Change {
  readonly row?: AppointmentRow;
  readonly deletion?: DeletedRow;
}

/**
 * Rows by the time of their last change, and deletions from the log. Times at which nobody has an appointment are left out,
 * unless they were one: the id then is `hidden`.
 */
export async function listAppointmentChanges(ehr: Ehr, query: AppointmentChangesQuery): Promise<AppointmentChanges> {
  const { careUnits, after, limit } = query;
  const { client } = ehr;
  // The clock of the server is known from its responses.
  await client.userId();
  const anyRow = Type.Object({ id: idSchema });
  if (after === undefined) {
    await client.searchRead({ model: 'gnuhealth.institution', row: anyRow, domain: [], limit: 1 });
  }
  const { fresh, since, ...position } = await readFeed({
    ...{ after, limit, overlapMilliseconds },
    now: client.now(),
    read: (from, atLeast) => changesSince(ehr, from, atLeast),
  });
  const views = await viewsOf(ehr, careUnits, fresh);
  const rows = views.map(({ row }) => row);
  const booked = await bookedSince(client, rows, toRpc(since));
  const changes = views.map(({ row, appointment, at }) =>
    changedAppointment(appointment, at, booked.get(row.id), since),
  );
  const isShown = new Set(rows.map(({ id }) => id));
  const gone = fresh.flatMap(({ row }) => (row && !isShown.has(row.id) ? [row.id] : []));
  const deletions = fresh.flatMap(({ deletion }) => deletion ?? []);
  return { changes, hidden: [...gone, ...(await deletedIds(client, deletions))].map(String), ...position };
}

/** All changes up to a point, the oldest first: all there are, or enough to fill a page with new ones. */
async function changesSince({ client }: Ehr, since: Date, atLeast: number | undefined) {
  const size = atLeast === undefined ? 2 ** 31 - 1 : Math.max(pageSize, atLeast);
  const from = toRpc(since);
  const wasAppointment = ['OR', ['state', '!=', 'free'], ['name', '!=', null]];
  const written = [['write_date', '>=', from], wasAppointment];
  const created = [...equal({ write_date: null }), ['create_date', '>=', from], wasAppointment];
  const [writes, creations, deletions] = await Promise.all([
    searchRowPage(client, written, 'write_date', size),
    searchRowPage(client, created, 'create_date', size),
    searchDeletions(client, from, size),
  ]);
  const pages: readonly Page<RowChange>[] = [
    { ...writes, rows: writes.rows.map(fromRow) },
    { ...creations, rows: creations.rows.map(fromRow) },
    { ...deletions, rows: deletions.rows.map(fromDeletion) },
  ];
  // Beyond the end of a list that was cut, another list may go on.
  const cut = pages.filter(({ isFull }) => isFull).map(({ rows }) => rows.at(-1)?.at ?? 0);
  const until = Math.min(...cut, Number.POSITIVE_INFINITY);
  const changes = pages.flatMap(({ rows }) => rows).filter(({ at }) => at <= until);
  return { changes: changes.sort((a, b) => a.at - b.at), isCut: cut.length > 0 };
}

function fromRow(row: AppointmentRow): RowChange {
  const timestamp = row._timestamp ?? '0';
  return { at: Math.floor(Number(timestamp) * 1000), mark: markOf('row', row.id, timestamp), row };
}

function fromDeletion(deletion: DeletedRow): RowChange {
  const at = fromRpc(deletion.create_date).getTime();
  return { at, mark: markOf('log', deletion.id, String(at)), deletion };
}

async function viewsOf(ehr: Ehr, careUnits: AppointmentChangesQuery['careUnits'], fresh: readonly RowChange[]) {
  const units = await Promise.all(
    careUnits.map(async (careUnit) => {
      const unit = ehr.at(careUnit);
      const rows = fresh.flatMap(({ row }) => (row && row.institution === unit.unit.institution ? [row] : []));
      return { unit, rows: new Set(rows), names: rows.length > 0 ? await careUnitNames(unit, rows) : undefined };
    }),
  );
  return fresh.flatMap(({ row, at }) =>
    units.flatMap(({ unit, rows, names }) => {
      const appointment = row && names && rows.has(row) && toAppointment(unit, names, row);
      return appointment ? [{ row, appointment, at }] : [];
    }),
  );
}
