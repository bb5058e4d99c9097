import type {
  AppointmentChanges,
  AppointmentChangesQuery,
  CareUnit,
  ChangedAppointment,
} from '@crossward/connector-kit';
import Type from 'typebox';
import type { Ehr } from '../ehr.ts';
import type { Page } from '../rpc/client.ts';
import { idSchema } from '../rpc/rows.ts';
import { fromRpc, toRpc } from '../rpc/values.ts';
import { bookedSince } from './booked-since.ts';
import { type CareUnitNames, careUnitNames } from './care-unit-names.ts';
import { type ChangeCursor, markOf, overlapMilliseconds, readCursor, writeCursor } from './change-cursor.ts';
import { type DeletedRow, deletedIds, searchDeletions } from './deletions.ts';
import { type AppointmentRow, searchRowPage, toAppointment } from './record.ts';

const pageSize = 500;
const anySchema = Type.Object({ id: idSchema });

/** One thing that changed. */
interface Change {
  readonly at: number;
  readonly mark: string;
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
  if (after === undefined) return firstPosition(ehr, userId);
  const cursor = readCursor(after);
  const { changes, hasMore } = await changesSince(ehr, userId, cursor, limit);
  const seen = new Set(cursor.seen);
  const isNew = ({ mark }: Change) => !seen.has(mark);
  const page = hasMore ? throughLimit(changes, isNew, limit) : changes;
  const fresh = page.filter(isNew);
  const views = await viewsOf(ehr, careUnits, fresh);
  const booked = await bookedSince(
    ehr.rpc,
    views.map(({ row }) => row),
    toRpc(new Date(cursor.since)),
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
    next: writeCursor(positionAfter(ehr, cursor, page)),
    hasMore,
  };
}

/** Starts now. What was changed a moment ago is in the overlap, and counts as returned. */
async function firstPosition(ehr: Ehr, userId: number): Promise<AppointmentChanges> {
  await ehr.rpc.searchRead({ model: 'gnuhealth.institution', row: anySchema, domain: [], limit: 1 });
  const start = { since: ehr.rpc.now().getTime() - overlapMilliseconds, seen: [] };
  const { changes } = await changesSince(ehr, userId, start, Number.POSITIVE_INFINITY);
  return {
    changes: [],
    next: writeCursor({ since: start.since, seen: changes.map(({ mark }) => mark) }),
    hasMore: false,
  };
}

/** All changes up to a point, the oldest first: all there are, or enough to fill a page with new ones. */
async function changesSince(ehr: Ehr, userId: number, { since, seen }: ChangeCursor, limit: number) {
  const most = Math.max(pageSize, limit === Number.POSITIVE_INFINITY ? 0 : limit) + seen.length;
  // All there are, for the first position.
  const size = limit === Number.POSITIVE_INFINITY ? 2 ** 31 - 1 : most;
  const from = toRpc(new Date(since));
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
  const lists: readonly (readonly Change[])[] = pages.map(({ rows }) => rows);
  // Beyond the end of a list that was cut, another list may go on.
  const cut = pages.filter(({ isFull }) => isFull).map(({ rows }) => rows.at(-1)?.at ?? 0);
  const until = Math.min(...cut, Number.POSITIVE_INFINITY);
  const changes = lists
    .flat()
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at);
  const known = new Set(seen);
  const fresh = changes.filter(({ mark }) => !known.has(mark));
  return { changes, hasMore: cut.length > 0 || fresh.length > limit };
}

/** The changes up to the last one of a page. */
function throughLimit(changes: readonly Change[], isNew: (change: Change) => boolean, limit: number): Change[] {
  let count = 0;
  return changes.filter((change) => {
    if (isNew(change)) count++;
    return count <= limit;
  });
}

/** Everything before the overlap is settled, unless the page ended there. */
function positionAfter(ehr: Ehr, { since, seen }: ChangeCursor, page: readonly Change[]): ChangeCursor {
  const reached = page.at(-1)?.at ?? since;
  const settled = Math.max(since, Math.min(reached, ehr.rpc.now().getTime() - overlapMilliseconds));
  const kept = page.filter(({ at }) => at >= settled).map(({ mark }) => mark);
  // A row that has changed again has another mark, so older marks are never needed once they are before the overlap.
  const known = new Set(kept);
  return { since: settled, seen: settled === since ? [...seen.filter((mark) => !known.has(mark)), ...kept] : kept };
}

function withRows({ rows, isFull }: Page<AppointmentRow>): Page<Change> {
  return { rows: rows.map(fromRow), isFull };
}

function fromRow(row: AppointmentRow): Change {
  const timestamp = row._timestamp ?? '0';
  return { at: Math.floor(Number(timestamp) * 1000), mark: markOf('row', row.id, timestamp), row };
}

function fromDeletion(deletion: DeletedRow): Change {
  const at = fromRpc(deletion.create_date).getTime();
  return { at, mark: markOf('log', deletion.id, String(at)), deletion };
}

async function viewsOf(
  ehr: Ehr,
  careUnits: AppointmentChangesQuery['careUnits'],
  fresh: readonly Change[],
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
