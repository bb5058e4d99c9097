import { ConnectorError } from '@crossward/connector-kit';
import type { RpcClient } from './client.ts';

/** A record as it was read. */
export interface Version {
  readonly model: string;
  readonly id: number;
  readonly _timestamp: string;
}

/**
 * - `done`: by this call
 * - `refused`: this call has changed nothing, and cannot any more
 * - `undecided`: a request got no answer, and a later one was refused. Either the first was done, or somebody else was faster.
 *   Nothing of this call can arrive any more.
 */
export type Outcome = 'done' | 'refused' | 'undecided';

/**
 * A write of records that must still be as they were read: Tryton compares `_timestamp` with the time of the last change and
 * rolls everything back if one differs. So a write that got no answer can be sent again: it is done once at most.
 *
 * @throws ConnectorError `outcome_unknown` while the server cannot be asked
 */
export async function writeIfUnchanged(
  rpc: RpcClient,
  versions: readonly Version[],
  method: string,
  params: readonly unknown[],
): Promise<Outcome> {
  const context = {
    _timestamp: Object.fromEntries(versions.map(({ model, id, _timestamp }) => [`${model},${id}`, _timestamp])),
  };
  try {
    return (await isDone(rpc, method, params, context, false)) ? 'done' : 'refused';
  } catch (error) {
    if (!isUnknown(error)) throw error;
  }
  try {
    return (await isDone(rpc, method, params, context, true)) ? 'done' : 'undecided';
  } catch (cause) {
    throw new ConnectorError('outcome_unknown', 'The EHR did not respond to a write', { cause });
  }
}

async function isDone(
  rpc: RpcClient,
  method: string,
  params: readonly unknown[],
  context: object,
  repeatable: boolean,
): Promise<boolean> {
  return 'result' in (await rpc.write(method, params, { context, repeatable }));
}

/** Whether a write may have been done. */
export function isUnknown(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return false;
  return ['outcome_unknown', 'timeout', 'connection_closed'].includes(error.kind);
}
