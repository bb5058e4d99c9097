import Type, { type Static } from 'typebox';
import { equal, type Page, type RpcClient } from '../rpc/client.ts';
import { idSchema, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc, type RpcDateTime } from '../rpc/values.ts';
import { type AppointmentRow, model } from './rows.ts';

/** Tryton's log of writes and deletions. */
const log = 'ir.model.log';
/** Digits of the highest id. */
const mostDigits = 10;

/** An entry of a write. It names the fields that were written, and no values. */
interface LoggedWrite {
  readonly rowId: number;
  readonly fields: readonly string[];
  readonly at: RpcDateTime;
}

const entrySchema = Type.Object({
  id: idSchema,
  resource: Type.String(),
  /** Such as `name,patient,state`. */
  target: textSchema,
  create_date: dateTimeSchema,
});

/** The writes of these rows since `from`, by anybody. */
export async function searchWrites(
  client: RpcClient,
  rowIds: readonly number[],
  from: RpcDateTime,
): Promise<readonly LoggedWrite[]> {
  if (rowIds.length === 0) return [];
  const resources = rowIds.map((id) => `${model},${id}`);
  const domain = [...equal({ event: 'write' }), ['create_date', '>=', from], ['resource', 'in', resources]];
  const entries = await client.searchAll({ model: log, row: entrySchema, domain });
  return entries.map(({ resource, target, create_date }) => ({
    rowId: Number(resource.slice(model.length + 1)),
    fields: target?.split(',') ?? [],
    at: create_date,
  }));
}

/**
 * When rows were booked, by id, if it was since `from`. Staff make free rows long before somebody is booked, so the log tells
 * when a row got its patient, or became confirmed.
 */
export async function bookedSince(
  client: RpcClient,
  rows: readonly AppointmentRow[],
  from: RpcDateTime,
): Promise<ReadonlyMap<number, Date>> {
  const ids = rows.map(({ id }) => id);
  const writes = Map.groupBy(await searchWrites(client, ids, from), ({ rowId }) => rowId);
  return new Map(
    rows.flatMap((row) => {
      const bookings = (writes.get(row.id) ?? []).filter((write) => isBooking(write, row));
      const times = [row.create_date, ...bookings.map(({ at }) => at)];
      const last = Math.max(...times.flatMap((it) => (it ? fromRpc(it).getTime() : [])));
      return last < fromRpc(from).getTime() ? [] : [[row.id, new Date(last)] as const];
    }),
  );
}

function isBooking({ fields }: LoggedWrite, { state }: AppointmentRow): boolean {
  return fields.includes('patient') || (state === 'confirmed' && fields.includes('state'));
}

/** An entry of a deletion. */
const deletionSchema = Type.Object({ id: idSchema, create_date: dateTimeSchema });
export type DeletedRow = Readonly<Static<typeof deletionSchema>>;

/** Deletions of rows by somebody else than the gateway, which removes only free rows. */
export async function searchDeletions(client: RpcClient, from: RpcDateTime, limit: number): Promise<Page<DeletedRow>> {
  return client.searchPage({
    model: log,
    row: deletionSchema,
    domain: [
      ...equal({ event: 'delete' }),
      ['create_date', '>=', from],
      ['user', '!=', await client.userId()],
      ['resource', 'like', `${model},%`],
    ],
    order: 'create_date',
    limit,
  });
}

/**
 * The ids of the rows that were deleted. The server does not return the name of a record that is gone, but it can search by
 * it: each search tells, for all entries at once, which of them have a certain digit in a certain place.
 */
export async function deletedIds(client: RpcClient, deletions: readonly DeletedRow[]): Promise<readonly number[]> {
  const row = Type.Object({ id: idSchema });
  const matching = async (entries: readonly number[], pattern: string) => {
    const resource = ['resource', 'like', `${model},${pattern}`];
    return (await client.searchRead({ model: log, row, domain: [['id', 'in', entries], resource] })).map(
      ({ id }) => id,
    );
  };
  const found: number[] = [];
  let open = deletions.map(({ id }) => id);
  for (let digits = 1; digits <= mostDigits && open.length > 0; digits++) {
    const entries = await matching(open, '_'.repeat(digits));
    open = open.filter((id) => !entries.includes(id));
    if (entries.length > 0) found.push(...(await idsOfLength(entries, digits, matching)));
  }
  return found;
}

async function idsOfLength(
  entries: readonly number[],
  digits: number,
  matching: (entries: readonly number[], pattern: string) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const texts = new Map(entries.map((id) => [id, '']));
  for (let place = 0; place < digits; place++) {
    for (let digit = 0; digit <= 9; digit++) {
      const pattern = `${'_'.repeat(place)}${digit}${'_'.repeat(digits - place - 1)}`;
      for (const id of await matching(entries, pattern)) texts.set(id, `${texts.get(id)}${digit}`);
    }
  }
  return [...texts.values()].map(Number);
}
