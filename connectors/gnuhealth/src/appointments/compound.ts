import type { RpcClient } from '../rpc/client.ts';
import { type Outcome, type Versions, writeIfUnchanged } from '../rpc/conditional-write.ts';
import { toRpc } from '../rpc/values.ts';
import { untilUnchanged } from './attempts.ts';
import { type AppointmentRow, model, searchRows, type TimedRow } from './record.ts';

/** Changes to rows of `gnuhealth.appointment`, made together or not at all. */
export interface Compound {
  readonly write?: { readonly row: AppointmentRow; readonly values: object };
  readonly remove?: readonly AppointmentRow[];
  readonly create?: readonly object[];
}

function versionsOf(records: readonly AppointmentRow[]): Versions {
  return { model, records };
}

/** The same change of each row. */
export function writeRows(rpc: RpcClient, rows: readonly AppointmentRow[], values: object): Promise<Outcome> {
  return writeIfUnchanged(rpc, versionsOf(rows), `model.${model}.write`, [rows.map(({ id }) => id), values]);
}

/**
 * One call, so one transaction of the server: a write of the patient's field `appointments`, as Tryton's own client sends it
 * when somebody edits the appointments in a patient's form. Every row that is written or removed must be unchanged. Rows that
 * are created belong to the patient.
 */
export function writeTogether(
  rpc: RpcClient,
  patient: number,
  { write, remove = [], create = [] }: Compound,
): Promise<Outcome> {
  const actions = [
    ...(write ? [['write', [write.row.id], write.values]] : []),
    ...(remove.length > 0 ? [['delete', remove.map(({ id }) => id)]] : []),
    ...(create.length > 0 ? [['create', create]] : []),
  ];
  const versions = versionsOf([...(write ? [write.row] : []), ...remove]);
  return writeIfUnchanged(rpc, versions, 'model.gnuhealth.patient.write', [[patient], { appointments: actions }]);
}

/** The values of a free row at the time of an appointment. */
export function freeRowLike({ healthprof, speciality, institution, appointment_type, start, end }: TimedRow): object {
  return {
    state: 'free',
    healthprof,
    speciality,
    institution,
    appointment_type,
    appointment_date: toRpc(start),
    appointment_date_end: toRpc(end),
  };
}

/**
 * Takes the patient out of the free rows that `writeTogether` has created: it creates every row with one. Whatever fails here is
 * done with the patient's next change; until then, staff see the patient in a free time.
 */
export async function tidyFreeRows(rpc: RpcClient, patient: number): Promise<void> {
  await clearFreeRows(rpc, patient).catch(() => {
    // The change itself is done.
  });
}

/** As `tidyFreeRows`. @throws ConnectorError */
export async function clearFreeRows(rpc: RpcClient, patient: number): Promise<void> {
  const ours = [
    ['state', '=', 'free'],
    ['patient', '=', patient],
    ['name', '=', null],
    ['create_uid', '=', await rpc.userId()],
  ];
  await untilUnchanged(async () => {
    const rows = await searchRows(rpc, ours);
    const isClear = rows.length === 0 || (await writeRows(rpc, rows, { patient: null })) === 'done';
    return isClear ? true : undefined;
  });
}
