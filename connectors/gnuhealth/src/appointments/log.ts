import Type from 'typebox';
import type { RpcClient } from '../rpc/client.ts';
import { idSchema, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, type RpcDateTime } from '../rpc/values.ts';
import { model } from './record.ts';

/** An entry of Tryton's log of writes. It names the fields that were written, and no values. */
export interface LoggedWrite {
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
  rpc: RpcClient,
  rowIds: readonly number[],
  from: RpcDateTime,
): Promise<readonly LoggedWrite[]> {
  if (rowIds.length === 0) return [];
  const entries = await rpc.searchAll({
    model: 'ir.model.log',
    row: entrySchema,
    domain: [
      ['event', '=', 'write'],
      ['create_date', '>=', from],
      ['resource', 'in', rowIds.map((id) => `${model},${id}`)],
    ],
  });
  return entries.map(({ resource, target, create_date }) => ({
    rowId: Number(resource.slice(model.length + 1)),
    fields: target?.split(',') ?? [],
    at: create_date,
  }));
}
