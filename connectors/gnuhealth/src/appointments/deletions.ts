import Type, { type Static } from 'typebox';
import type { Page, RpcClient } from '../rpc/client.ts';
import { idSchema } from '../rpc/rows.ts';
import { dateTimeSchema, type RpcDateTime } from '../rpc/values.ts';
import { model } from './record.ts';

const log = 'ir.model.log';
/** Digits of the highest id. */
const mostDigits = 10;

/** An entry of the log of deletions. */
const deletionSchema = Type.Object({ id: idSchema, create_date: dateTimeSchema });
export type DeletedRow = Readonly<Static<typeof deletionSchema>>;
const entrySchema = Type.Object({ id: idSchema });

/** Deletions of rows by somebody else than the gateway, which removes only free rows. */
export function searchDeletions(
  rpc: RpcClient,
  userId: number,
  from: RpcDateTime,
  limit: number,
): Promise<Page<DeletedRow>> {
  return rpc.searchPage({
    model: log,
    row: deletionSchema,
    domain: [
      ['event', '=', 'delete'],
      ['create_date', '>=', from],
      ['user', '!=', userId],
      ['resource', 'like', `${model},%`],
    ],
    order: [
      ['create_date', 'ASC'],
      ['id', 'ASC'],
    ],
    limit,
  });
}

/**
 * The ids of the rows that were deleted. The server does not return the name of a record that is gone, but it can search by
 * it: each search tells, for all entries at once, which of them have a certain digit in a certain place.
 */
export async function deletedIds(rpc: RpcClient, deletions: readonly DeletedRow[]): Promise<readonly number[]> {
  if (deletions.length === 0) return [];
  const matching = async (entries: readonly number[], pattern: string) => {
    const domain = [
      ['id', 'in', entries],
      ['resource', 'like', `${model},${pattern}`],
    ];
    return (await rpc.searchRead({ model: log, row: entrySchema, domain })).map(({ id }) => id);
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
