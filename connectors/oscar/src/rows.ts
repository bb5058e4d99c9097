import { ConnectorError } from '@crossward/connector-kit';
import { required } from '@crossward/connector-kit/rest';
import { findRow, type Row, readRow } from './appointments.ts';
import { type At, serverTime } from './ehr.ts';
import type { Fields } from './records.ts';
import { lastMinute } from './times.ts';

/** What an update writes, besides the times. The server sets the others itself. */
const writable = [
  ...['providerNo', 'demographicNo', 'name', 'programId', 'status', 'type', 'reason', 'notes', 'location', 'resources'],
  ...['style', 'billing', 'remarks', 'urgency', 'bookingSource'],
];
/** The most archived rows that the server sends. */
const mostArchived = 5000;
/** A time stamp is set before its transaction ends. */
const overlapMilliseconds = 2 * 60_000;
const mostAttempts = 3;

/** What a change makes of a row. It throws if the row may not be changed. */
export type Change = (row: Row) => { readonly start?: Date; readonly end?: Date; readonly fields?: Fields };

/** An update that was sent, and what it was planned with. */
export interface SentUpdate {
  readonly before: Row;
  readonly sent: Row;
  readonly since: Date;
  readonly change: Change;
}

/** What the server gets: a field that is not sent becomes null, and it subtracts a millisecond from the end. */
export function recordOf({ id, fields, start, storedEnd }: Row): Fields {
  const end = storedEnd && new Date(storedEnd.getTime() + 1);
  return {
    ...(id ? { id } : {}),
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => writable.includes(name))),
    appointmentStartDateTime: start.toISOString(),
    ...(end ? { appointmentEndDateTime: end.toISOString() } : {}),
  };
}

function changed(row: Row, { fields, ...time }: ReturnType<Change>): Row {
  const ends = time.end ? { storedEnd: lastMinute(time.end) } : {};
  return { ...row, ...time, ...ends, fields: { ...row.fields, ...fields } };
}

/** @throws ConnectorError `appointment_not_found` */
export async function mustFind(at: At, id: string): Promise<Row> {
  return required(await findRow(at, id), 'appointment_not_found');
}

/**
 * Reads the row right before it is written, in the turn of the appointment. Call `settleUpdate` when the turn is over: what it
 * repairs must not depend on having one.
 */
export async function sendUpdate(at: At, id: string, change: Change): Promise<SentUpdate> {
  const since = new Date((await serverTime(at)).getTime() - overlapMilliseconds);
  const before = await mustFind(at, id);
  const sent = changed(before, change(before));
  await write(at, sent).catch((error: unknown) => deletedOr(at, id, error));
  return { before, sent, since, change };
}

/** An update of a row that is gone is a fault. */
async function deletedOr(at: At, id: string, error: unknown): Promise<never> {
  const isFault = error instanceof ConnectorError && error.refusal !== undefined;
  if (!isFault || (await findRow(at, id))) throw error;
  throw new ConnectorError('appointment_not_found', 'Somebody has deleted the appointment', { nothingChanged: true });
}

async function write({ client }: At, row: Row): Promise<void> {
  await client.write('Schedule.updateAppointment', recordOf(row));
}

/**
 * The server writes the whole row and compares no version, but archives the one that it overwrites. If staff have changed it since
 * it was read, their version is changed and written instead.
 *
 * @throws what the change throws for their version, which then stands as it was
 */
export async function settleUpdate(at: At, update: SentUpdate): Promise<Row> {
  const { since, change } = update;
  let { before, sent } = update;
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const lost = await overwritten(at, before, sent, since);
    if (!lost) return mustFind(at, sent.id);
    [before, sent] = [sent, await changedOrRestored(at, lost, change)];
    await write(at, sent);
  }
  throw new ConnectorError('outcome_unknown', 'The appointment kept changing during the write');
}

async function changedOrRestored(at: At, lost: Row, change: Change): Promise<Row> {
  try {
    return changed(lost, change(lost));
  } catch (error) {
    await write(at, lost);
    if (!(error instanceof ConnectorError)) throw error;
    throw new ConnectorError(error.kind, error.message, { cause: error, nothingChanged: true });
  }
}

/**
 * What an update has overwritten, if it is not the row as it was read. An archived row does not name its appointment: it is one of
 * the same patient, creation, provider and start. So a move by staff is not found.
 */
async function overwritten({ client }: At, before: Row, sent: Row, since: Date): Promise<Row | undefined> {
  const archive = await client.ask('Schedule.getAppointmentArchivesUpdatedAfterDate', since, mostArchived, true);
  const versions = archive
    .flatMap((it) => readRow({ leftOut: () => undefined }, it) ?? [])
    .filter((it) => isVersionOf(before, it))
    .sort((a, b) => Number(a.id) - Number(b.id));
  const later = versions.slice(versions.findLastIndex((it) => isSame(it, before)) + 1);
  // The own version is there if somebody has changed it since.
  const own = later.findIndex((it) => isSame(it, sent));
  const lost = own === -1 ? later.at(-1) : later[own - 1];
  return lost && { ...lost, id: before.id };
}

function isVersionOf(row: Row, version: Row): boolean {
  const names = ['demographicNo', 'creator', 'createDateTime', 'providerNo'];
  const isSameFields = names.every((name) => row.fields[name] === version.fields[name]);
  return isSameFields && row.start.getTime() === version.start.getTime();
}

function isSame(a: Row, b: Row): boolean {
  const isSameFields = writable.every((name) => (a.fields[name] ?? '') === (b.fields[name] ?? ''));
  return isSameFields && a.start.getTime() === b.start.getTime() && a.end?.getTime() === b.end?.getTime();
}
