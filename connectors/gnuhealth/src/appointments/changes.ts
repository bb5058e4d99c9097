import type {
  AppointmentChanges,
  AppointmentChangesQuery,
  CareUnit,
  ChangedAppointment,
} from '@crossward/connector-kit';
import { type Change, markOf, readFeed } from '@crossward/connector-kit/rest';
import Type from 'typebox';
import type { Ehr } from '../ehr.ts';
import type { Page } from '../rpc/client.ts';
import { idSchema } from '../rpc/rows.ts';
import { fromRpc, toRpc } from '../rpc/values.ts';
import { bookedSince } from './booked-since.ts';
import { type CareUnitNames, careUnitNames } from './care-unit-names.ts';
import { type DeletedRow, deletedIds, searchDeletions } from './deletions.ts';
import { type AppointmentRow, searchRowPage, toAppointment } from './record.ts';

const pageSize = 500;
const anySchema = Type.Object({ id: idSchema });

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
export async function listAppointmentChanges(
  ehr: Ehr,
  { careUnits, after, limit }: AppointmentChangesQuery,
): Promise<AppointmentChanges> {
  // The clock of the server is known from its responses.
  const userId = await ehr.rpc.userId();
  if (after === undefined) {
    await ehr.rpc.searchRead({ model: 'gnuhealth.institution', row: anySchema, domain: [], limit: 1 });
  }
  const { fresh, since, ...position } = await readFeed({
    after,
    limit,
    now: ehr.rpc.now(),
    overlapMilliseconds,
    read: (from, atLeast) => changesSince(ehr, userId, from, atLeast),
  });
  const views = await viewsOf(ehr, careUnits, fresh);
  const booked = await bookedSince(
    ehr.rpc,
    views.map(({ row }) => row),
    toRpc(since),
  );
  const shown = views.map(({ row, ...view }): ChangedAppointment => {
    const createdAt = booked.get(row.id);
    return createdAt ? { ...view, createdAt } : view;
  });
  const isShown = new Set(shown.map(({ appointment }) => appointment.id));
  const deleted = await deletedIds(
    ehr.rpc,
    fresh.flatMap(({ deletion }) => deletion ?? []),
  );
  const gone = fresh.flatMap(({ row }) => (row && !isShown.has(String(row.id)) ? [String(row.id)] : []));
  return {
    changes: shown,
    hidden: [...gone, ...deleted.map(String)],
    ...position,
  };
}

/** All changes up to a point, the oldest first: all there are, or enough to fill a page with new ones. */
async function changesSince(ehr: Ehr, userId: number, since: Date, atLeast: number | undefined) {
  const size = atLeast === undefined ? 2 ** 31 - 1 : Math.max(pageSize, atLeast);
  const from = toRpc(since);
  const wasAppointment = ['OR', ['state', '!=', 'free'], ['name', '!=', null]];
  const paged = (field: string) => ({
    order: [[field, 'ASC'] as const, ['id', 'ASC'] as const],
    limit: size,
  });
  const [written, created, removed] = await Promise.all([
    searchRowPage(ehr.rpc, [['write_date', '>=', from], wasAppointment], paged('write_date')),
    searchRowPage(
      ehr.rpc,
      [['write_date', '=', null], ['create_date', '>=', from], wasAppointment],
      paged('create_date'),
    ),
    searchDeletions(ehr.rpc, userId, from, size),
  ]);
  const pages = [withRows(written), withRows(created), { ...removed, rows: removed.rows.map(fromDeletion) }];
  const lists: readonly (readonly RowChange[])[] = pages.map(({ rows }) => rows);
  // Beyond the end of a list that was cut, another list may go on.
  const cut = pages.filter(({ isFull }) => isFull).map(({ rows }) => rows.at(-1)?.at ?? 0);
  const until = Math.min(...cut, Number.POSITIVE_INFINITY);
  const changes = lists
    .flat()
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at);
  return { changes, isCut: cut.length > 0 };
}

function withRows({ rows, isFull }: Page<AppointmentRow>): Page<RowChange> {
  return { rows: rows.map(fromRow), isFull };
}

function fromRow(row: AppointmentRow): RowChange {
  const timestamp = row._timestamp ?? '0';
  return { at: Math.floor(Number(timestamp) * 1000), mark: markOf('row', row.id, timestamp), row };
}

function fromDeletion(deletion: DeletedRow): RowChange {
  const at = fromRpc(deletion.create_date).getTime();
  return { at, mark: markOf('log', deletion.id, String(at)), deletion };
}

async function viewsOf(
  ehr: Ehr,
  careUnits: AppointmentChangesQuery['careUnits'],
  fresh: readonly RowChange[],
): Promise<readonly (ChangedAppointment & { readonly row: AppointmentRow })[]> {
  const known = new Map<string, CareUnitNames>();
  for (const careUnit of careUnits) {
    const rows = fresh.flatMap(({ row }) => (row && isIn(ehr, careUnit, row) ? [row] : []));
    if (rows.length > 0) known.set(careUnit.id, await careUnitNames(ehr, careUnit, rows));
  }
  return fresh.flatMap(({ row, at }) =>
    careUnits.flatMap((careUnit) => {
      const names = row && isIn(ehr, careUnit, row) ? known.get(careUnit.id) : undefined;
      const appointment = row && names && toAppointment(row, names, ehr.settings);
      return appointment ? [{ row, appointment, changedAt: new Date(at) }] : [];
    }),
  );
}

function isIn({ directory }: Ehr, careUnit: CareUnit, { institution }: AppointmentRow): boolean {
  return directory.institutionOf(careUnit) === institution;
}
