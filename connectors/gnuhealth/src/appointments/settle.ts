import type { AppointmentCreation, CareUnit, InterruptedChanges } from '@crossward/connector-kit';
import type { Ehr } from '../ehr.ts';
import { type RpcDateTime, recordId, toRpc } from '../rpc/values.ts';
import { untilUnchanged } from './attempts.ts';
import { clearFreeRows, writeRows } from './compound.ts';
import { searchDeletions } from './deletions.ts';
import { searchWrites } from './log.ts';
import { type AppointmentRow, searchAllRows, searchRows } from './record.ts';

/** Written with the value that it has, to give a row another version. It shows nowhere, and the log tells it from a change. */
const markedField = 'institution';

/**
 * A write names the version of the rows that it changes. So a row that got another version since cannot be changed by it any
 * more, and one that only this function has changed was not changed by it.
 */
export async function settleChanges(
  ehr: Ehr,
  { careUnit, made, notSeen, since }: InterruptedChanges,
): Promise<boolean> {
  // The clock of the server is known from its responses, and never taken for later than it is.
  await ehr.rpc.userId();
  const from = toRpc(ehr.rpc.at(since));
  for (const patient of await patientsOf(ehr, [...made, ...notSeen])) await clearFreeRows(ehr.rpc, patient);
  for (const change of notSeen) {
    const isRuledOut =
      change.kind === 'create'
        ? await ruleOutBooking(ehr, careUnit, change, from)
        : await ruleOutChange(ehr, change.appointmentId, from);
    if (!isRuledOut) return false;
  }
  return true;
}

async function patientsOf({ rpc }: Ehr, changes: InterruptedChanges['made']): Promise<ReadonlySet<number>> {
  const patients = changes.map((it) => (it.kind === 'create' ? recordId(it.patientId) : undefined));
  const ids = changes.map((it) => (it.kind === 'create' ? undefined : recordId(it.appointmentId)));
  const rows = await searchRows(rpc, [['id', 'in', ids.filter((id) => id !== undefined)]]);
  return new Set([...patients, ...rows.map(({ patient }) => patient)].flatMap((id) => id ?? []));
}

async function ruleOutBooking(
  ehr: Ehr,
  careUnit: CareUnit,
  { patientId, resourceId, start }: AppointmentCreation,
  from: RpcDateTime,
): Promise<boolean> {
  const [patient, professional] = [recordId(patientId), recordId(resourceId)];
  if (patient === undefined || professional === undefined) return true;
  const place = [
    ['healthprof', '=', professional],
    ['appointment_date', '=', toRpc(start)],
  ];
  const isMarked = await untilUnchanged(async () => {
    const institution = ['institution', '=', ehr.directory.institutionOf(careUnit)];
    const free = await searchAllRows(ehr.rpc, [...place, institution, ['state', '=', 'free']]);
    // A row that was an appointment has a name. If somebody has made it free since, it may have been this one.
    const used = free.filter(({ name }) => name !== null);
    if ((await changedSince(ehr, used, from)).size > 0) return false;
    return (await mark(ehr, free)) ? true : undefined;
  });
  return isMarked && !(await isTraceLeft(ehr, patient, place, from));
}

/** Whether the booking may have been made since, although it is not there as it was made. */
async function isTraceLeft(ehr: Ehr, patient: number, place: readonly unknown[], from: RpcDateTime): Promise<boolean> {
  const touched = [
    ['patient', '=', patient],
    ['OR', ['write_date', '>=', from], ['create_date', '>=', from]],
  ];
  const [here, anywhere, deleted] = await Promise.all([
    searchAllRows(ehr.rpc, [...place, ...touched]),
    searchAllRows(ehr.rpc, touched),
    searchDeletions(ehr.rpc, await ehr.rpc.userId(), from, 1),
  ]);
  if (here.some(({ state }) => state !== 'free') || deleted.rows.length > 0) return true;
  const moved = await changedSince(ehr, anywhere, from, ['appointment_date', 'healthprof']);
  return moved.size > 0;
}

/** An appointment that somebody has changed since may have been changed by this write before. */
async function ruleOutChange(ehr: Ehr, appointmentId: string, from: RpcDateTime): Promise<boolean> {
  const id = recordId(appointmentId);
  if (id === undefined) return true;
  return untilUnchanged(async () => {
    const rows = await searchAllRows(ehr.rpc, [['id', '=', id]]);
    if (rows.length === 0 || (await changedSince(ehr, rows, from)).size > 0) return false;
    return (await mark(ehr, rows)) ? true : undefined;
  });
}

/** The ids of the rows of which one of these fields, or else anything, was written since. */
async function changedSince(
  { rpc }: Ehr,
  rows: readonly AppointmentRow[],
  from: RpcDateTime,
  fields?: readonly string[],
): Promise<ReadonlySet<number>> {
  const ids = rows.map(({ id }) => id);
  const writes = await searchWrites(rpc, ids, from);
  const counts = (field: string) => fields?.includes(field) ?? field !== markedField;
  return new Set(writes.filter((write) => write.fields.some(counts)).map(({ rowId }) => rowId));
}

/** `false`: somebody has changed a row in between. */
async function mark({ rpc }: Ehr, rows: readonly AppointmentRow[]): Promise<boolean> {
  const [first] = rows;
  if (!first) return true;
  return (await writeRows(rpc, rows, { [markedField]: first[markedField] })) === 'done';
}
