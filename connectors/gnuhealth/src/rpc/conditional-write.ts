import { ConnectorError } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import type { Answer, Exception } from './answer.ts';
import type { RpcClient } from './client.ts';
import { idSchema, textSchema } from './rows.ts';

/** `null`: nobody knows, because the record was imported past Tryton. */
const versionSchema = Type.Object({ id: idSchema, _timestamp: textSchema });
type Version = Readonly<Static<typeof versionSchema>>;

/** Records of a model, as they were read. */
export interface Versions {
  readonly model: string;
  readonly records: readonly Version[];
}

/**
 * - `done`: by this call
 * - `refused`: somebody has changed a record in between. This call has changed nothing, and cannot any more
 * - `undecided`: a request got no answer, and a later one was refused. Either the first was done, or somebody else was faster.
 *   Nothing of this call can arrive any more.
 */
export type Outcome = 'done' | 'refused' | 'undecided';

/**
 * A write of records that must still be as they were read: Tryton compares `_timestamp` with the time of the last change and
 * rolls everything back if one differs. So a write that got no answer can be sent again: it is done once at most.
 *
 * @throws ConnectorError `outcome_unknown` while the server cannot be asked; `rejected` if it refuses the write although the
 *   records are as they were read: it would refuse it again
 */
export async function writeIfUnchanged(
  rpc: RpcClient,
  versions: Versions,
  method: string,
  params: readonly unknown[],
): Promise<Outcome> {
  const { model, records } = versions;
  // Without it, the later of two writes would win.
  if (records.some(({ _timestamp }) => _timestamp === null)) {
    throw new ConnectorError('rejected', 'The EHR does not say when a record was changed');
  }
  const versionsById = records.map(({ id, _timestamp }) => [`${model},${id}`, _timestamp]);
  const context = { _timestamp: Object.fromEntries(versionsById) };
  const send = (repeatable: boolean) => rpc.write(method, params, { context, repeatable });
  let answer: Answer;
  try {
    answer = await send(false);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    // The first may have removed a record. Then the server refuses the second as one of a record that does not exist.
    return 'result' in (await again(send)) ? 'done' : 'undecided';
  }
  if ('result' in answer) return 'done';
  if (isRace(answer.exception) || !(await areUnchanged(rpc, versions))) return 'refused';
  const refusal = { status: 200, code: answer.exception };
  throw new ConnectorError('rejected', `The EHR refused ${method} with ${answer.exception}`, { refusal });
}

async function again(send: (repeatable: boolean) => Promise<Answer>): Promise<Answer> {
  try {
    return await send(true);
  } catch (cause) {
    throw new ConnectorError('outcome_unknown', 'The EHR did not respond to a write', { cause });
  }
}

function isRace(exception: Exception): boolean {
  return exception === 'ConcurrencyException' || exception === 'DatabaseOperationalError';
}

/** Tryton has no class of its own for a record that is gone: it is a `UserError`, as one of access rights or of a value. */
async function areUnchanged(rpc: RpcClient, { model, records }: Versions): Promise<boolean> {
  const domain = [['id', 'in', records.map(({ id }) => id)]];
  const found = await rpc.searchRead({ model, row: versionSchema, domain });
  return records.every(({ id, _timestamp }) => found.some((it) => it.id === id && it._timestamp === _timestamp));
}

/** Whether a write may have been done. */
function isUnknown(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return false;
  return ['outcome_unknown', 'timeout', 'connection_closed'].includes(error.kind);
}
