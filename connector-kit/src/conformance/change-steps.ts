import type { AppointmentChanges, ChangedAppointment } from '../appointment-changes.ts';
import { Failure } from './check.ts';
import { expectThat, facts, inOrder, operation } from './expect.ts';
import type { Subject } from './subject.ts';

/** More than any server needs until it shows what it has stored. */
const mostCalls = 200;
/** 15 seconds: a database may show a change only when older transactions have ended. */
const mostLooks = 60;
const lookMilliseconds = 250;

/** One call. */
export async function listChanges(
  { connector, careUnit, otherCareUnit }: Subject,
  after?: string,
  limit = 50,
): Promise<AppointmentChanges> {
  const careUnits = otherCareUnit ? [careUnit, otherCareUnit] : [careUnit];
  const list = operation(connector, 'listAppointmentChanges');
  const found = await list({ careUnits, limit, ...(after === undefined ? {} : { after }) });
  const isInOrder = inOrder(found.changes, ({ changedAt }) => [changedAt.getTime()]);
  expectThat(isInOrder, 'Changes of one call are not in the order of their times, the oldest first');
  return found;
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
  const told = Map.groupBy(changes, ({ appointment }) => appointment.id);
  const again = [...told].filter(([, { length }]) => length > 1).map(([id, { length }]) => `${id} (${length} times)`);
  const which = again.length === 0 ? 'no appointment comes again' : `these come again: ${again.slice(0, 5).join(', ')}`;
  throw new Failure(
    `hasMore is still true after ${mostCalls} calls, with ${changes.length} changes; ${which}; next is ${next.slice(0, 100)}`,
  );
}

/**
 * Changes an appointment until the EHR gives it a later time stamp than all these changes have, because stamps can have whole
 * seconds, or the EHR's clock is behind.
 *
 * @returns the position after it
 */
export async function clockMovesOn(
  subject: Subject,
  after: string,
  { than, edit }: { readonly than: Date; edit(look: number): Promise<void> },
): Promise<string> {
  let next = after;
  for (let look = 1; look <= mostLooks; look++) {
    await edit(look);
    const read = await readAll(subject, next);
    next = read.next;
    if (read.changes.some(({ changedAt }) => changedAt > than)) return next;
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
  throw new Failure(`No change in ${mostLooks} has a later time stamp than one before`);
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
