import { overlaps } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import type { Ehr } from '../ehr.ts';
import type { Domain, Page, RpcClient } from '../rpc/client.ts';
import { idSchema, nullable, textSchema } from '../rpc/rows.ts';
import { dateTimeSchema, fromRpc, toRpc } from '../rpc/values.ts';
import { defaultMinutes, type GnuHealthSettings } from '../settings.ts';
import { takingStates } from './states.ts';

export const model = 'gnuhealth.appointment';
const pageSize = 500;

/** A row of `gnuhealth.appointment`: an appointment, or a free time. */
const appointmentSchema = Type.Object({
  id: idSchema,
  /** Such as `APP 2026/7`. A free time that was an appointment once keeps it. */
  name: textSchema,
  state: textSchema,
  patient: nullable(idSchema),
  healthprof: nullable(idSchema),
  speciality: nullable(idSchema),
  institution: nullable(idSchema),
  appointment_date: nullable(dateTimeSchema),
  appointment_date_end: nullable(dateTimeSchema),
  appointment_type: textSchema,
  comments: textSchema,
  /** `null`: it was imported past Tryton. Then nothing tells whether somebody has changed it. */
  create_date: nullable(dateTimeSchema),
  _timestamp: textSchema,
});
export type AppointmentRow = Readonly<Static<typeof appointmentSchema>>;

/** A row with a time. */
export interface DatedRow extends AppointmentRow {
  readonly start: Date;
  readonly end: Date;
}

/** A row with a professional and a time. */
export interface TimedRow extends DatedRow {
  readonly healthprof: number;
}

/** Rows that cannot be read are left out. */
export function searchRows(client: RpcClient, domain: Domain): Promise<readonly AppointmentRow[]> {
  return client.searchRead({ model, row: appointmentSchema, domain });
}

/** Rows of which each is needed. @throws ConnectorError `rejected` if one cannot be read */
export function searchAllRows(client: RpcClient, domain: Domain): Promise<readonly AppointmentRow[]> {
  return client.searchAll({ model, row: appointmentSchema, domain });
}

/** A page of rows, ordered by this field, then by id. */
export function searchRowPage(
  client: RpcClient,
  domain: Domain,
  order: string,
  limit: number,
): Promise<Page<AppointmentRow>> {
  return client.searchPage({ model, row: appointmentSchema, domain, order, limit });
}

/**
 * Rows by their start, a page at a time. Rows with the same start come in one page, because the server sorts their ids as
 * numbers and the port as texts.
 */
export async function* pagesByStart(
  client: RpcClient,
  domain: Domain,
  from: Date | undefined,
): AsyncGenerator<readonly AppointmentRow[]> {
  let since = from;
  let size = pageSize;
  for (;;) {
    const terms = since ? [...domain, ['appointment_date', '>=', toRpc(since)]] : domain;
    const { rows, isFull } = await searchRowPage(client, terms, 'appointment_date', size);
    if (!isFull) {
      yield rows;
      return;
    }
    const last = startOf(rows.at(-1));
    const whole = rows.filter((row) => startOf(row) !== last);
    // More rows than a page start at the same time.
    if (whole.length === 0) size *= 2;
    else yield whole;
    since = new Date(last);
  }
}

function startOf(row: AppointmentRow | undefined): number {
  return row?.appointment_date ? fromRpc(row.appointment_date).getTime() : 0;
}

/** `null`: the row has no time. */
export function dated(
  row: AppointmentRow,
  { minutes_without_end = defaultMinutes }: GnuHealthSettings,
): DatedRow | null {
  const { appointment_date, appointment_date_end } = row;
  if (appointment_date === null) return null;
  const start = fromRpc(appointment_date);
  const given = appointment_date_end && fromRpc(appointment_date_end);
  const end = given && given > start ? given : new Date(start.getTime() + minutes_without_end * 60_000);
  return { ...row, start, end };
}

/** `null`: the row has no professional or no time. */
export function timed(row: AppointmentRow, settings: GnuHealthSettings): TimedRow | null {
  const found = dated(row, settings);
  return found && isTimed(found) ? found : null;
}

export function isTimed(row: DatedRow): row is TimedRow {
  return row.healthprof !== null;
}

interface Range {
  readonly start: Date;
  readonly end: Date;
}

/** Rows that overlap the range. Those without an end have the usual length. */
export function overlapping(
  { start, end }: Range,
  { minutes_without_end = defaultMinutes }: GnuHealthSettings,
): Domain {
  const latestStart = toRpc(new Date(start.getTime() - minutes_without_end * 60_000));
  // An end that is not after the start counts as missing.
  const endsLater = ['OR', ['appointment_date_end', '>', toRpc(start)], ['appointment_date', '>', latestStart]];
  return [['appointment_date', '<', toRpc(end)], endsLater];
}

/**
 * The appointments and free times of these professionals that overlap the range, at any institution.
 *
 * @throws ConnectorError `rejected` if one cannot be read: the time may be taken
 */
export async function rowsAt(
  { client, settings }: Pick<Ehr, 'client' | 'settings'>,
  professionals: readonly number[],
  range: Range,
  search = searchAllRows,
): Promise<{ readonly taken: readonly TimedRow[]; readonly free: readonly TimedRow[] }> {
  const rows = await search(client, [
    ['healthprof', 'in', professionals],
    ['state', 'in', ['free', ...takingStates]],
    ...overlapping(range, settings),
  ]);
  const there = rows.flatMap((row) => timed(row, settings) ?? []).filter((row) => overlaps(row, range));
  return { taken: there.filter(({ state }) => state !== 'free'), free: there.filter(({ state }) => state === 'free') };
}
