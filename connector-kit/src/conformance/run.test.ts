import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts } from '../../template-booking/src/subject.ts';
import { type Connector, ConnectorError } from '../index.ts';
import { outcomeOf } from './broken.test-support.ts';
import { type Check, runCheck, type Subject } from './index.ts';
import { leftAfter } from './run.ts';
import { book, change, creation, freeSlot, listAllPages, windowOf } from './steps.ts';

const server = await startEhr();
afterAll(() => server.close());
type Right = Required<Connector>;

/** The connector of the template, with a defect. */
async function subject(defects: (right: Right) => Partial<Connector> = () => ({})): Promise<Subject> {
  const right = (await clinic.open(contextFor(server.url))) as Right;
  return {
    name: 'clinic',
    connector: { ...right, ...defects(right) },
    careUnit: { id: 'clinic', timeZone: 'Europe/London' },
    facts,
  };
}

/** A check that claims nothing. */
function check(run: Check['run']): Check {
  return { capability: 'create', name: 'a check', isClaimed: () => true, run };
}

const end = { timeoutMilliseconds: 20_000 };

async function bookings(): Promise<readonly string[]> {
  const right = await subject();
  const range = windowOf(right);
  return (await listAllPages(right, { range })).filter(({ state }) => state === 'booked').map(({ id }) => id);
}

test('a booking of a failed check is cancelled, although its connector says that it has not booked', async () => {
  const lying = await subject(({ changeAppointments }) => ({
    async changeAppointments(write) {
      const made = await changeAppointments(write);
      if (write.changes[0]?.kind === 'cancel') return made;
      throw new ConnectorError('rejected', 'Not booked');
    },
  }));
  const { outcome, left } = await runCheck(
    check(async (it) => void (await book(it))),
    lying,
    end,
  );
  expect([outcome, left, await bookings()]).toEqual(['failed', [], []]);
});

test('what could not be cancelled is tried again at the end, and is left if that fails, too', async () => {
  let isAway = true;
  const faulty = await subject(({ findAppointments }) => ({
    async findAppointments(careUnit, ids) {
      if (isAway) throw new ConnectorError('unavailable', 'Away');
      return findAppointments(careUnit, ids);
    },
  }));
  const { left, cleanUpAgain } = await runCheck(
    check(async (it) => void (await book(it))),
    faulty,
    end,
  );
  expect(left).toEqual(await bookings());
  expect(left).toHaveLength(1);
  expect(await leftAfter([cleanUpAgain ?? fail])).toEqual(left);
  isAway = false;
  expect(await leftAfter([cleanUpAgain ?? fail])).toEqual([]);
  expect(await bookings()).toEqual([]);
});

test('what a check books after its time is cancelled at the end', async () => {
  const goOn = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const late = check(async (it) => {
    const what = await creation(it, await freeSlot(it));
    await goOn.promise;
    await change(it, what);
    ended.resolve();
  });
  const { outcome, cleanUpAgain } = await runCheck(late, await subject(), { timeoutMilliseconds: 500 });
  expect(outcome).toBe('failed');
  goOn.resolve();
  await ended.promise;
  expect(await bookings()).toHaveLength(1);
  expect(await leftAfter([cleanUpAgain ?? fail])).toEqual([]);
  expect(await bookings()).toEqual([]);
});

const ambiguous = 'a number of several people finds none of them';
const outOfUse = 'a record that is out of use is shown as such, or not at all';
test.each<[string, (right: Right) => Partial<Connector>]>([
  [
    ambiguous,
    ({ findPatient }) => ({
      findPatient: (it) => findPatient(it.type === 'nhs_number' ? { type: 'emr_id', value: '1003' } : it),
    }),
  ],
  [
    outOfUse,
    ({ findPatient }) => ({
      async findPatient(it) {
        const { isInactive: _, ...found } = (await findPatient(it)) ?? {};
        return found as Awaited<ReturnType<typeof findPatient>>;
      },
    }),
  ],
])('%s: passes, fails for a connector that does otherwise, and is not checked without facts', async (name, defects) => {
  const right = await subject();
  expect(await outcomeOf(right, 'patients', name)).toMatchObject({ outcome: 'passed' });
  expect(await outcomeOf(await subject(defects), 'patients', name)).toMatchObject({ outcome: 'failed' });
  const without = { ...right, facts: { patient: facts.patient } };
  expect(await outcomeOf(without, 'patients', name)).toMatchObject({ outcome: 'not_checked' });
});

async function fail(): Promise<never> {
  throw new Error('Nothing is to be cleaned up');
}
