import type { AppointmentChanges, ChangedAppointment } from '../appointment-changes.ts';
import { Failure } from './check.ts';
import { expectThat, facts, operation } from './expect.ts';
import type { Subject } from './subject.ts';

/** More than any server needs until it shows what it has stored. */
const mostCalls = 200;
/** 15 seconds: a database may show a change only when older transactions have ended. */
const mostLooks = 60;
const lookMilliseconds = 250;

/** One call. */
export function listChanges(
  { connector, careUnit, otherCareUnit }: Subject,
  after?: string,
  limit = 50,
): Promise<AppointmentChanges> {
  const careUnits = otherCareUnit ? [careUnit, otherCareUnit] : [careUnit];
  return operation(
    connector,
    'listAppointmentChanges',
  )({ careUnits, limit, ...(after === undefined ? {} : { after }) });
}

/** Reads until there is nothing more. */
export async function readAll(subject: Subject, after: string, limit?: number) {
  const changes: ChangedAppointment[] = [];
  let next = after;
  for (let call = 1; call <= mostCalls; call++) {
    const page = await listChanges(subject, next, limit);
    changes.push(...page.changes);
    next = page.next;
    if (!page.hasMore) return { changes, next };
  }
  throw new Failure(`hasMore is still true after ${mostCalls} calls`);
}

/** Reads until every one of these ids is among the changes. An EHR may show a change a little later. */
export async function readUntil(subject: Subject, after: string, ids: readonly string[], limit?: number) {
  const found = new Map<string, ChangedAppointment>();
  const { next } = await readOn(subject, after, limit, ({ changes }) => {
    for (const it of changes) found.set(it.appointment.id, it);
    return ids.filter((id) => !found.has(id));
  });
  return { found, next };
}

/**
 * Reads until every one of these appointments was told with its comment, and then as long as there is something new. Each version is
 * told once.
 *
 * @param before what was told before the position
 */
export async function expectToldOnce(
  subject: Subject,
  after: string,
  comments: ReadonlyMap<string, string>,
  { limit, before = [] }: { limit?: number; before?: readonly ChangedAppointment[] } = {},
): Promise<void> {
  const told = before.filter(({ appointment }) => comments.has(appointment.id));
  const { next } = await readOn(subject, after, limit, ({ changes }) => {
    told.push(...changes.filter(({ appointment }) => comments.has(appointment.id)));
    const last = new Map(told.map(({ appointment: { id, comment } }) => [id, comment]));
    return [...comments].flatMap(([id, comment]) => (last.get(id) === comment ? [] : [id]));
  });
  const { changes } = await readAll(subject, next, limit);
  told.push(...changes.filter(({ appointment }) => comments.has(appointment.id)));
  const versions = told.map(({ appointment, changedAt }) => JSON.stringify([facts(appointment), changedAt]));
  const twice = told.filter((_, index) => versions.indexOf(versions[index] ?? '') !== index);
  expectThat(
    twice.length === 0,
    `A change is told twice, although the position is after it: ${twice.map(({ appointment }) => appointment.id).join(', ')}`,
  );
}

/** @param missing takes what was read in a look, and says what is still missing */
async function readOn(
  subject: Subject,
  after: string,
  limit: number | undefined,
  missing: (read: Awaited<ReturnType<typeof readAll>>) => readonly string[],
) {
  let next = after;
  let missed: readonly string[] = [];
  for (let look = 1; look <= mostLooks; look++) {
    const read = await readAll(subject, next, limit);
    next = read.next;
    missed = missing(read);
    if (missed.length === 0) return { next };
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
  throw new Failure(`Changed appointments are missing: ${missed.join(', ')}`);
}
