import type { Row, Tables } from './tables.ts';

/** The calendar of a health professional whose user has one. */
export function calendarOf(tables: Tables, professional: unknown): Row | undefined {
  const found = tables.of('gnuhealth.healthprofessional').get(Number(professional));
  const id = found && tables.valueOf('gnuhealth.healthprofessional', found, 'party.internal_user.calendar');
  return tables.of('calendar.calendar').get(Number(id));
}

export function hasUser(tables: Tables, professional: unknown): boolean {
  const found = tables.of('gnuhealth.healthprofessional').get(Number(professional));
  return Boolean(found && tables.valueOf('gnuhealth.healthprofessional', found, 'party.internal_user'));
}

/** The rules of the group Calendar Group Administration, and those for owners and for users that a calendar names. */
export function mayWrite({ owner, write_users }: Row, userId: number, admins: ReadonlySet<number>): boolean {
  return admins.has(userId) || owner === userId || includes(write_users, userId);
}

export function maySee(calendar: Row, userId: number, admins: ReadonlySet<number>): boolean {
  return mayWrite(calendar, userId, admins) || includes(calendar.read_users, userId);
}

function includes(users: unknown, userId: number): boolean {
  return Array.isArray(users) && users.includes(userId);
}
