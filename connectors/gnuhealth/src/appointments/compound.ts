import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import { equal, type RpcClient } from '../rpc/client.ts';
import { type Outcome, writeIfUnchanged } from '../rpc/conditional-write.ts';
import { toRpc } from '../rpc/values.ts';
import { type AppointmentRow, model, searchRows, type TimedRow } from './rows.ts';

const mostAttempts = 20;

/** Changes to rows of `gnuhealth.appointment`, made together or not at all. */
export interface Compound {
  readonly write?: { readonly row: AppointmentRow; readonly values: object };
  readonly remove?: readonly AppointmentRow[];
  readonly create?: readonly object[];
}

/** The same change of each row. */
export function writeRows(client: RpcClient, rows: readonly AppointmentRow[], values: object): Promise<Outcome> {
  return writeIfUnchanged(client, { model, records: rows }, `model.${model}.write`, [rows.map(({ id }) => id), values]);
}

/**
 * One call, so one transaction of the server: a write of the patient's field `appointments`, as Tryton's own client sends it
 * when somebody edits the appointments in a patient's form. Every row that is written or removed must be unchanged. Rows that
 * are created belong to the patient.
 */
export function writeTogether(
  client: RpcClient,
  patient: number,
  { write, remove = [], create = [] }: Compound,
): Promise<Outcome> {
  const actions = [
    ...(write ? [['write', [write.row.id], write.values]] : []),
    ...(remove.length > 0 ? [['delete', remove.map(({ id }) => id)]] : []),
    ...(create.length > 0 ? [['create', create]] : []),
  ];
  const records = [...(write ? [write.row] : []), ...remove];
  return writeIfUnchanged(client, { model, records }, 'model.gnuhealth.patient.write', [
    [patient],
    { appointments: actions },
  ]);
}

/** The values of a free row at the time of an appointment. */
export function freeRowLike({ healthprof, speciality, institution, appointment_type, start, end }: TimedRow): object {
  const time = { appointment_date: toRpc(start), appointment_date_end: toRpc(end) };
  return { state: 'free', healthprof, speciality, institution, appointment_type, ...time };
}

/**
 * Takes the patient out of the free rows that `writeTogether` has created: it creates every row with one. Whatever fails here is
 * done with the patient's next change; until then, staff see the patient in a free time.
 */
export async function tidyFreeRows(client: RpcClient, patient: number): Promise<void> {
  await clearFreeRows(client, patient).catch(() => {
    // The change itself is done.
  });
}

/** As `tidyFreeRows`. @throws ConnectorError */
export async function clearFreeRows(client: RpcClient, patient: number): Promise<void> {
  const ours = equal({ state: 'free', patient, name: null, create_uid: await client.userId() });
  await untilUnchanged(async () => {
    const rows = await searchRows(client, ours);
    const isClear = rows.length === 0 || (await writeRows(client, rows, { patient: null })) === 'done';
    return isClear ? true : undefined;
  });
}

/**
 * Repeats an attempt that found the records changed by the time that it wrote. A failed attempt has changed nothing, and
 * returns `undefined`.
 *
 * @throws ConnectorError `unavailable` if the records keep changing
 */
export async function untilUnchanged<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let round = 1; round <= mostAttempts; round++) {
    const result = await attempt();
    if (result !== undefined) return result;
    // Random, so that calls that met do not meet again.
    await pause(Math.random() * 10 * round);
  }
  throw new ConnectorError('unavailable', 'The appointments kept changing during the write; nothing was written');
}
