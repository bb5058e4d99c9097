import { afterAll, expect, test } from 'vitest';
import { careSubject } from '../../../connectors/care/test/subject.ts';
import type { AppointmentChanges, AppointmentChangesQuery, ChangedAppointment } from '../index.ts';
import { outcomeOf, withDefects } from './broken.test-support.ts';

const right = await careSubject();
afterAll(() => right.close?.());

const atOnce = 'tells changes of one and the same time once each, in small pages';
const late = 'tells a change that appears later than its time stamp, and no other again';
const meanwhile = 'misses none while staff change others between two pages';

test.each([atOnce, late, meanwhile])('a connector of an EHR with time stamps passes: %s', async (check) => {
  expect(await outcomeOf(right, 'appointment-changes', check)).toMatchObject({ outcome: 'passed', reason: null });
});

type List = (query: Omit<AppointmentChangesQuery, 'careUnits'>) => Promise<AppointmentChanges>;
type Alter = (list: List) => List;

/** A feed whose position is the time of the last change that was told, with what the right one needs. */
const byTime =
  (isNewer: (at: number, last: number) => boolean): Alter =>
  (list) =>
  async ({ after, limit }) => {
    const [position, last = '0'] = after?.split('|') ?? [];
    const page = await list({ limit, ...(position === undefined ? {} : { after: position }) });
    const changes = page.changes.filter(({ changedAt }) => isNewer(changedAt.getTime(), Number(last)));
    const newest = Math.max(Number(last), ...changes.map(({ changedAt }) => changedAt.getTime()));
    return { ...page, changes, next: `${page.next}|${newest}` };
  };

/** Reads everything with its first call, and goes on where it has ended with giving it out. */
const bySnapshot: Alter = (list) => {
  let kept: readonly ChangedAppointment[] = [];
  const end = async (after: string): Promise<AppointmentChanges> => {
    const page = await list({ after, limit: 1000 });
    return page.hasMore ? end(page.next) : page;
  };
  return async ({ after, limit }) => {
    if (after === undefined) return list({ limit });
    const [position = '', index = '0'] = after.split('|');
    if (index === '0') ({ changes: kept } = await list({ after: position, limit: 1000 }));
    const upTo = Number(index) + limit;
    const hasMore = upTo < kept.length;
    const changes = kept.slice(Number(index), upTo);
    return { changes, hasMore, next: hasMore ? `${position}|${upTo}` : (await end(position)).next };
  };
};

/** Forgets which changes of the overlap it has told. */
const withoutMarks: Alter =
  (list) =>
  ({ after, limit }) =>
    list({ after: after?.replace(/,"[^"]*"/, ',""'), limit });

test.each([
  ['takes the last time for told with all its changes', byTime((at, last) => at > last), atOnce, 'are missing'],
  ['reads nothing before its last time again', byTime((at, last) => at >= last), late, 'are missing'],
  ['reads pages of what was there when it began', bySnapshot, meanwhile, 'are missing'],
  ['tells the changes of the overlap again', withoutMarks, late, 'told twice'],
] as const)('the kit catches a connector that %s', { timeout: 60_000 }, async (_, alter, check, reason) => {
  const subject = withDefects(right, ({ listAppointmentChanges }) => {
    const list = alter((query) => listAppointmentChanges({ ...query, careUnits: [right.careUnit] }));
    return { listAppointmentChanges: list };
  });
  const result = await outcomeOf(subject, 'appointment-changes', check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});
