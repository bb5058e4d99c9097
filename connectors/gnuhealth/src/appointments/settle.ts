import type { AppointmentCreation, InterruptedChanges } from '@crossward/connector-kit';
import type { At } from '../ehr.ts';
import { equal } from '../rpc/client.ts';
import { type RpcDateTime, recordId, toRpc } from '../rpc/values.ts';
import { clearFreeRows, untilUnchanged, writeRows } from './compound.ts';
import { searchDeletions, searchWrites } from './log.ts';
import { type AppointmentRow, searchAllRows, searchRows } from './rows.ts';

/** Written with the value that it has, to give a row another version. It shows nowhere, and the log tells it from a change. */
const markedField = 'institution';

/**
 * A write names the version of the rows that it changes. So a row that got another version since cannot be changed by it any
 * more, and one that only this function has changed was not changed by it.
 */
export async function settleChanges(at: At, { made, notSeen, since }: InterruptedChanges): Promise<boolean> {
  // The clock of the server is known from its responses, and never taken for later than it is.
  await at.client.userId();
  const from = toRpc(at.client.at(since));
  for (const patient of await patientsOf(at, [...made, ...notSeen])) await clearFreeRows(at.client, patient);
  for (const change of notSeen) {
    const isRuledOut =
      change.kind === 'create'
        ? await ruleOutBooking(at, change, from)
        : await ruleOutChange(at, change.appointmentId, from);
    if (!isRuledOut) return false;
  }
  return true;
}

async function patientsOf({ client }: At, changes: InterruptedChanges['made']): Promise<ReadonlySet<number>> {
  const patients = changes.map((it) => (it.kind === 'create' ? recordId(it.patientId) : undefined));
  const ids = changes.map((it) => (it.kind === 'create' ? undefined : recordId(it.appointmentId)));
  const rows = await searchRows(client, [['id', 'in', ids.filter((id) => id !== undefined)]]);
  return new Set([...patients, ...rows.map(({ patient }) => patient)].flatMap((id) => id ?? []));
}

async function ruleOutBooking(
  at: At,
  { patientId, resourceId, start }: AppointmentCreation,
  from: RpcDateTime,
): Promise<boolean> {
  const [patient, professional] = [recordId(patientId), recordId(resourceId)];
  if (patient === undefined || professional === undefined) return true;
  const place = equal({ healthprof: professional, appointment_date: toRpc(start) });
  const isMarked = await untilUnchanged(async () => {
    const free = await searchAllRows(at.client, [
      ...place,
      ...equal({ institution: at.unit.institution, state: 'free' }),
    ]);
    // A row that was an appointment has a name. If somebody has made it free since, it may have been this one.
    const used = free.filter(({ name }) => name !== null);
    if ((await changedSince(at, used, from)).size > 0) return false;
    return (await mark(at, free)) ? true : undefined;
  });
  return isMarked && !(await isTraceLeft(at, patient, place, from));
}

/** Whether the booking may have been made since, although it is not there as it was made. */
async function isTraceLeft(at: At, patient: number, place: readonly unknown[], from: RpcDateTime): Promise<boolean> {
  const touched = [...equal({ patient }), ['OR', ['write_date', '>=', from], ['create_date', '>=', from]]];
  const [here, anywhere, deleted] = await Promise.all([
    searchAllRows(at.client, [...place, ...touched]),
    searchAllRows(at.client, touched),
    searchDeletions(at.client, from, 1),
  ]);
  if (here.some(({ state }) => state !== 'free') || deleted.rows.length > 0) return true;
  const moved = await changedSince(at, anywhere, from, ['appointment_date', 'healthprof']);
  return moved.size > 0;
}

/** An appointment that somebody has changed since may have been changed by this write before. */
async function ruleOutChange(at: At, appointmentId: string, from: RpcDateTime): Promise<boolean> {
  const id = recordId(appointmentId);
  if (id === undefined) return true;
  return untilUnchanged(async () => {
    const rows = await searchAllRows(at.client, equal({ id }));
    if (rows.length === 0 || (await changedSince(at, rows, from)).size > 0) return false;
    return (await mark(at, rows)) ? true : undefined;
  });
}

/** The ids of the rows of which one of these fields, or else anything, was written since. */
async function changedSince(
  { client }: At,
  rows: readonly AppointmentRow[],
  from: RpcDateTime,
  fields?: readonly string[],
): Promise<ReadonlySet<number>> {
  const ids = rows.map(({ id }) => id);
  const writes = await searchWrites(client, ids, from);
  const counts = (field: string) => fields?.includes(field) ?? field !== markedField;
  return new Set(writes.filter((write) => write.fields.some(counts)).map(({ rowId }) => rowId));
}

/** `false`: somebody has changed a row in between. */
async function mark({ client }: At, rows: readonly AppointmentRow[]): Promise<boolean> {
  const [first] = rows;
  if (!first) return true;
  return (await writeRows(client, rows, { [markedField]: first[markedField] })) === 'done';
}
