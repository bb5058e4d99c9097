import type { RpcClient } from '../rpc/client.ts';
import type { RpcDateTime } from '../rpc/values.ts';
import { model } from './record.ts';

/** An entry of Tryton's log of writes. It names the fields that were written, and no values. */
export interface LoggedWrite {
  readonly rowId: number;
  readonly fields: readonly string[];
  readonly at: RpcDateTime;
}

interface Entry {
  readonly id: number;
  readonly resource: string;
  /** Such as `name,patient,state`. */
  readonly target: string | null;
  readonly create_date: RpcDateTime;
}

/** The writes of these rows since `from`, by anybody. */
export async function searchWrites(
  rpc: RpcClient,
  rowIds: readonly number[],
  from: RpcDateTime,
): Promise<readonly LoggedWrite[]> {
  if (rowIds.length === 0) return [];
  const entries = await rpc.searchRead<Entry>({
    model: 'ir.model.log',
    domain: [
      ['event', '=', 'write'],
      ['create_date', '>=', from],
      ['resource', 'in', rowIds.map((id) => `${model},${id}`)],
    ],
    fields: ['resource', 'target', 'create_date'],
  });
  return entries.map(({ resource, target, create_date }) => ({
    rowId: Number(resource.slice(model.length + 1)),
    fields: target?.split(',') ?? [],
    at: create_date,
  }));
}
