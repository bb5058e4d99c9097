import { calendarOf, hasUser, mayWrite } from './calendars.ts';
import { models } from './models.ts';
import type { Row, Tables } from './tables.ts';
import { type Instant, timestampOf } from './values.ts';

/** An exception of Tryton, which the caller gets with 200. */
export class TrytonException extends Error {
  override readonly name = 'TrytonException';
  readonly answer: readonly unknown[];

  constructor(...answer: readonly unknown[]) {
    super(String(answer[0]));
    this.answer = answer;
  }
}

type Values = Readonly<Record<string, unknown>>;
type Action = readonly [string, ...unknown[]];

const appointment = 'gnuhealth.appointment';

/** The writes of one call. Its changes have the time at which it began. */
export class Transaction {
  private readonly tables: Tables;
  private readonly userId: number;
  private readonly begin: Instant;
  private readonly timestamps: Map<string, string>;

  constructor(tables: Tables, userId: number, begin: Instant, timestamps: Values = {}) {
    this.tables = tables;
    this.userId = userId;
    this.begin = begin;
    this.timestamps = new Map(Object.entries(timestamps).map(([key, value]) => [key, String(value)]));
  }

  create(model: string, list: readonly Values[]): number[] {
    return list.map((given) => {
      const values = { ...defaultsOf(model), ...given };
      if (model === appointment && given.state === undefined) throw new TrytonException("'state'", '');
      const event = model === appointment && values.state === 'confirmed' ? this.newEvent(given, given.healthprof) : {};
      const id = this.tables.nextId(model);
      const row: Row = {
        ...values,
        ...event,
        ...(model === appointment && values.state === 'confirmed' && !values.name ? { name: this.nextName() } : {}),
        id,
        create_date: this.begin,
        create_uid: this.userId,
        write_date: null,
        write_uid: null,
      };
      this.save(model, row);
      return id;
    });
  }

  write(model: string, ids: readonly number[], values: Values): void {
    const rows = this.unchanged(model, ids);
    const { appointments, ...plain } = values;
    for (const row of rows) {
      // A name is given each time that the state is written, unless it is sent along.
      const isNamed = model === appointment && values.state === 'confirmed' && !values.name;
      const set = {
        ...plain,
        ...(isNamed ? { name: this.nextName() } : {}),
        ...(row.event ? this.changeEvent(row, plain) : {}),
      };
      this.save(model, { ...row, ...set, write_date: this.begin, write_uid: this.userId });
      this.log('write', model, row.id, Object.keys(values).concat(isNamed ? 'name' : []));
      if (model === 'gnuhealth.patient') this.writeAppointments(row.id, (appointments as Action[] | undefined) ?? []);
    }
  }

  delete(model: string, ids: readonly number[]): void {
    for (const { id, event } of this.unchanged(model, ids)) {
      if (event) this.expectCalendar(this.calendarOfEvent(event), 'delete');
      this.tables.of(model).delete(id);
      this.log('delete', model, id);
    }
  }

  /** The field of the patient: https://docs.tryton.org/projects/server/en/7.0/ref/fields.html#trytond.model.fields.One2Many */
  private writeAppointments(patient: number, actions: readonly Action[]): void {
    const of = (name: string) => actions.filter(([kind]) => kind === name).map(([, ...rest]) => rest);
    for (const [ids] of of('delete')) this.delete(appointment, ids as number[]);
    const writes = of('write').flat();
    // GNU Health's own `write` takes one set of values.
    if (writes.length > 2) throw new TrytonException('write() takes 3 positional arguments', '');
    if (writes.length === 2) this.write(appointment, writes[0] as number[], writes[1] as Values);
    for (const [list] of of('create')) {
      this.create(
        appointment,
        (list as Values[]).map((values) => ({ ...values, patient })),
      );
    }
  }

  /** An appointment that is created has an event in the professional's calendar. One that was a free row has none. */
  private newEvent(values: Values, professional: unknown): Values {
    const calendar = calendarOf(this.tables, professional);
    if (!calendar) return {};
    if (!('comments' in values)) throw new TrytonException("'comments'", '');
    this.expectCalendar(calendar, 'create');
    const [event] = this.create('calendar.event', [{ calendar: calendar.id, dtstart: values.appointment_date }]);
    return { event };
  }

  private changeEvent(row: Row, values: Values): Values {
    const calendar = this.calendarOfEvent(row.event);
    const copied = ['appointment_date', 'appointment_date_end', 'patient', 'comments'];
    if (!('healthprof' in values)) {
      if (copied.some((field) => field in values)) this.expectCalendar(calendar, 'write');
      return {};
    }
    if (hasUser(this.tables, row.healthprof) && !hasUser(this.tables, values.healthprof)) {
      throw new TrytonException("'NoneType' object has no attribute 'calendar'", '');
    }
    const event = this.newEvent({ ...row, ...values }, values.healthprof);
    this.expectCalendar(calendar, 'delete');
    this.tables.of('calendar.event').delete(Number(row.event));
    return { event: null, ...event };
  }

  private calendarOfEvent(event: unknown): Row | undefined {
    const found = this.tables.of('calendar.event').get(Number(event));
    return found && this.tables.of('calendar.calendar').get(Number(found.calendar));
  }

  private expectCalendar(calendar: Row | undefined, right: string): void {
    if (!calendar || mayWrite(calendar, this.userId, this.tables.calendarAdmins)) return;
    throw userError(`You are not allowed to ${right} records of "Event" because of at least one of these rules: …`);
  }

  private unchanged(model: string, ids: readonly number[]): Row[] {
    return ids.map((id) => {
      const row = this.tables.of(model).get(id);
      if (!row) throw userError(`You are trying to read records "${id}" that don't exist.`);
      const key = `${model},${id}`;
      const expected = this.timestamps.get(key);
      // Compared once, as the server's own later writes in the transaction change it.
      this.timestamps.delete(key);
      if (expected !== undefined && expected !== timestampOf(row.write_date ?? row.create_date)) {
        throw new TrytonException('ConcurrencyException', 'Records were modified in the meanwhile');
      }
      return row;
    });
  }

  private save(model: string, row: Row): void {
    const { references = {}, demanded = [], stripped = [] } = models[model] ?? {};
    for (const field of demanded) {
      if (row[field] === null || row[field] === undefined || row[field] === '') {
        throw userError(`A value is required for field "${field}".`);
      }
    }
    for (const [field, target] of Object.entries(references)) {
      const id = row[field];
      if (id === null || id === undefined || this.tables.of(target).has(Number(id))) continue;
      throw userError(`The value "${id}" for field "${field}" does not exist.`);
    }
    if (model === appointment && row.state !== 'free' && row.patient === null) {
      throw userError('A value is required for field "Patient".');
    }
    const { appointment_date: start, appointment_date_end: end } = row;
    if (model === appointment && typeof start === 'number' && typeof end === 'number' && end < start) {
      throw userError('SM-CALENDAR-0004: The Appointment END date is BEFORE the start date');
    }
    const clean = stripped.flatMap((field) => {
      const text = row[field];
      return typeof text === 'string' ? [[field, text.trim()]] : [];
    });
    this.tables.put(model, { ...row, ...Object.fromEntries(clean) });
  }

  private log(event: string, model: string, id: number, fields?: readonly string[]): void {
    const logId = this.tables.nextId('ir.model.log');
    this.tables.put('ir.model.log', {
      id: logId,
      create_date: this.begin,
      create_uid: this.userId,
      write_date: null,
      write_uid: null,
      event,
      target: fields ? fields.toSorted().join(',') : null,
      user: this.userId,
      resource: `${model},${id}`,
    });
  }

  private nextName(): string {
    return `APP 2026/${this.tables.nextId('name of an appointment')}`;
  }
}

function userError(message: string): TrytonException {
  return new TrytonException('UserError', [message, '', null]);
}

function defaultsOf(model: string): Values {
  if (model !== appointment) return {};
  const none = ['name', 'patient', 'healthprof', 'speciality', 'institution', 'comments', 'appointment_date_end'];
  return { ...Object.fromEntries(none.map((field) => [field, null])), appointment_type: 'outpatient' };
}
