import {
  type Appointment,
  type AppointmentQuery,
  type AppointmentState,
  type Attendance,
  ConnectorError,
  tidyName,
} from '@crossward/connector-kit';
import { appointmentsFor, dateIn, instantIn, readEach } from '@crossward/connector-kit/rest';
import type { XmlElement } from '@crossward/connector-kit/soap';
import type { At, Ehr, OscarLists } from './ehr.ts';
import { appointmentSchema, type Fields, fieldsOf, recordIn } from './records.ts';
import { isId } from './settings.ts';
import { endIn, nextDate, startOf } from './times.ts';

/** All of a patient come in one call: those of one day have no order, so pages would miss some. */
const mostOfPatient = 100_000;
/** No appointment is older: OSCAR is from 2001. */
const firstDate = '2000-01-01';
/** No appointment is more than so many years ahead. */
const yearsAhead = 3;

/** A row of the table of appointments. */
export interface Row {
  readonly id: string;
  /** As they were read. An update writes all of them. */
  readonly fields: Fields;
  readonly start: Date;
  readonly end: Date | null;
  /** As the server has it: `endIn` tells the end. */
  readonly storedEnd: Date | null;
}

/** The first letter of a status. Those that are not here are booked: a clinic gives them meanings of its own. */
const standings: Readonly<Record<string, readonly [AppointmentState, Attendance | null]>> = {
  H: ['booked', 'arrived'],
  P: ['booked', 'arrived'],
  E: ['booked', 'arrived'],
  B: ['booked', 'completed'],
  N: ['cancelled', 'no_show'],
  C: ['cancelled', null],
  D: ['cancelled', null],
};

export function standingOf({ fields: { status = '' } }: Row) {
  const [state, noted] = standings[status.charAt(0)] ?? ['booked', null];
  // The second letter: the note of the visit is signed or verified.
  const attendance = state === 'booked' && /^.[SV]/.test(status) ? 'completed' : noted;
  return { state, attendance, hasStarted: attendance === 'arrived' || attendance === 'completed' };
}

export function toAppointment({ careUnit }: At, { services }: OscarLists, row: Row): Appointment {
  const { id, fields, start, end } = row;
  const { providerNo, demographicNo = '', type, notes } = fields;
  return {
    ...{ id, start, end, heldUntil: null },
    ...standingOf(row),
    comment: notes || null,
    patientId: demographicNo,
    resourceId: providerNo || null,
    healthcareServiceId: services.find(({ name }) => name === tidyName(type))?.id ?? null,
    careUnitId: careUnit.id,
  };
}

/** `undefined`: it cannot be read, and was counted. */
export function readRow({ leftOut }: Pick<Ehr, 'leftOut'>, element: XmlElement): Row | undefined {
  const fields = fieldsOf(element);
  const record = recordIn('appointment', appointmentSchema, fields, leftOut);
  const start = instantIn(record?.appointmentStartDateTime);
  if (!record || !start) return undefined;
  const storedEnd = instantIn(record.appointmentEndDateTime) ?? null;
  return { id: record.id, fields, start, end: endIn(start, storedEnd), storedEnd };
}

/** The time that a row takes of which no more can be read. `undefined`: not even that. */
export function readBlock(element: XmlElement): Row | undefined {
  const fields = fieldsOf(element);
  const start = instantIn(fields.appointmentStartDateTime);
  if (!start) return undefined;
  const storedEnd = instantIn(fields.appointmentEndDateTime) ?? null;
  return { id: '', fields, start, end: endIn(start, storedEnd), storedEnd };
}

/** Patient 0 is nobody: the row takes its time, and is no appointment. */
export function isShown({ unit }: At, { fields }: Row): boolean {
  return fields.demographicNo !== '0' && unit.providers.some((it) => it === fields.providerNo);
}

/** `undefined`: there is none. @throws ConnectorError `rejected` if it cannot be read: nobody may take it for one that is gone */
export async function findRow(at: At, id: string): Promise<Row | undefined> {
  const [element] = isId(id) ? await at.client.ask('Schedule.getAppointment2', Number(id), true) : [];
  if (!element) return undefined;
  const row = readRow(at, element);
  if (row?.id !== id) throw new ConnectorError('rejected', 'The EHR sent an appointment that cannot be read');
  return isShown(at, row) ? row : undefined;
}

export async function findAppointments(at: At, ids: readonly string[]): Promise<Appointment[]> {
  const lists = await at.lists.get();
  return readEach(ids, async (id) => {
    const row = await findRow(at, id);
    return row && toAppointment(at, lists, row);
  });
}

/** All rows of a provider from the beginning of a date to that of another one, in no order. */
export async function rowsOf(
  at: At,
  provider: string,
  [from, to]: readonly [string, string],
  read = (element: XmlElement) => readRow(at, element),
): Promise<readonly Row[]> {
  const { timeZone } = at.careUnit;
  const [start, end] = [startOf(timeZone, from), startOf(timeZone, to)];
  const found = await at.client.ask('Schedule.getAppointmentsForDateRangeAndProvider2', start, end, provider, true);
  return found.flatMap((it) => read(it) ?? []);
}

/** Year by year until the page is full. */
export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId, resourceId, limit } = query;
  const lists = await at.lists.get();
  const shown = (rows: readonly Row[]) =>
    rows.filter((it) => isShown(at, it)).map((it) => toAppointment(at, lists, it));
  if (patientId !== undefined) {
    if (!isId(patientId)) return [];
    const id = Number(patientId);
    const found = await at.client.ask('Schedule.getAppointmentsForPatient2', id, 0, mostOfPatient, true);
    return appointmentsFor(shown(found.flatMap((it) => readRow(at, it) ?? [])), query);
  }
  const providers = at.unit.providers.filter((it) => it === (resourceId ?? it));
  const listed: Appointment[] = [];
  for (const dates of datesOf(query, at.now())) {
    const rows = await readEach(providers, (provider) => rowsOf(at, provider, dates));
    listed.push(...shown(rows.flat()));
    if (appointmentsFor(listed, query).length >= limit) break;
  }
  return appointmentsFor(listed, query);
}

/** Periods to ask for, in order: of a year at most. An appointment begins and ends on one date. */
function datesOf({ careUnit: { timeZone }, range, after }: AppointmentQuery, now: Date): (readonly [string, string])[] {
  const starts = [range?.start, after?.start].flatMap((it) => (it ? [dateIn(timeZone, it)] : [])).sort();
  const last = range ? nextDate(dateIn(timeZone, range.end)) : `${now.getUTCFullYear() + yearsAhead}-01-01`;
  const periods: (readonly [string, string])[] = [];
  for (let from = starts.at(-1) ?? firstDate; from < last; ) {
    const nextYear = `${Number(from.slice(0, 4)) + 1}-01-01`;
    const to = nextYear < last ? nextYear : last;
    periods.push([from, to]);
    from = to;
  }
  return periods;
}
