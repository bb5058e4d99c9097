import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts, staffOf } from '../../template-booking/src/subject.ts';
import { type AppointmentWrite, type Connector, ConnectorError, type EhrRequest } from '../index.ts';
import { isWrite } from '../sent-writes.ts';
import { outcomeOf } from './broken.test-support.ts';
import { connectorInProcess } from './own-process.ts';
import { plainHttp } from './plain-http.ts';
import type { Subject } from './subject.ts';

const server = await startEhr();
const forgetful = await startEhr({ checksSlots: false });
afterAll(() => Promise.all([server.close(), forgetful.close()]));
const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

type Right = Required<Connector>;
type Defects = (right: Right) => Partial<Connector>;

/** The connector of the template, with a defect. `isForgetful`: sends writes that its EHR makes each time, and calls them repeatable. */
async function subject(defects: Defects, { isForgetful = false, sendsAgain = false } = {}): Promise<Subject> {
  const { url, ehr } = isForgetful ? forgetful : server;
  const plain = plainHttp();
  const http = {
    ...plain,
    send(it: EhrRequest) {
      if (!isWrite(it)) return plain.send(it);
      if (isForgetful) return plain.send({ ...it, repeatable: true, writes: true });
      return plain.send(it).catch((error: unknown) => {
        if (sendsAgain) return plain.send(it);
        throw error;
      });
    },
  };
  const right = (await clinic.open(contextFor(url, { http }))) as Right;
  return {
    name: 'clinic',
    connector: { ...right, ...defects(right) },
    careUnit,
    facts,
    directChanges: staffOf(await clinic.open(contextFor(url)), ehr),
  };
}

const holds = (what: string) => `the EHR holds what was told of a ${what}`;
const again = 'a request that is repeatable does nothing when it arrives again';
const revived = 'a request that is repeatable does not undo what staff have done since it arrived';

test.each(['booking', 'move', 'comment', 'cancellation'].map(holds).concat(again, revived))(
  'the connector of the template passes: %s',
  async (check) => {
    const right = await subject(() => ({}));
    expect(await outcomeOf(right, 'lost-answers', check)).toMatchObject({ outcome: 'passed', reason: null });
  },
);

/** What a write that failed would have returned. */
const guesses: Defects = ({ changeAppointments, findAppointments }) => ({
  changeAppointments: (write) =>
    changeAppointments(write).catch(async (error: unknown) => {
      const [change] = write.changes;
      if (change?.kind !== 'cancel') throw error;
      const found = await findAppointments(write.careUnit, [change.appointmentId]);
      return found.map((it) => ({ ...it, state: 'cancelled' as const }));
    }),
});

const denies: Defects = ({ changeAppointments }) => ({
  changeAppointments: (write: AppointmentWrite) =>
    changeAppointments(write).catch((cause: unknown) => {
      throw new ConnectorError('unavailable', 'Try again', { cause, nothingChanged: true });
    }),
});

/** Says of a write on its way that it cannot come any more. */
const rulesOut: Defects = () => ({ settleChanges: async () => true });

const findsNothing: Defects = () => ({ findOperation: async () => null });

test.each<[string, Defects, string, string]>([
  ['takes a lost answer for a booking that was not made', denies, holds('booking'), 'told as not made'],
  ['takes a lost answer for a move that was not made', denies, holds('move'), 'told as not made'],
  ['takes a lost answer for a comment that was not made', denies, holds('comment'), 'told as not made'],
  ['tells a cancellation as made that was lost', guesses, holds('cancellation'), 'told as made'],
  ['rules out a booking that comes late', rulesOut, holds('booking'), 'settleChanges returned true'],
  ['does not find what it has booked', findsNothing, holds('booking'), 'findOperation does not find it'],
])('the kit catches a connector that %s', async (_, defects, check, reason) => {
  const result = await outcomeOf(await subject(defects), 'lost-answers', check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});

test('the kit catches a connector that sends a booking again after a lost answer', async () => {
  const result = await outcomeOf(await subject(() => ({}), { sendsAgain: true }), 'lost-answers', holds('booking'));
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('told as not made') });
});

test('the kit catches a write that is repeatable and is not done once only', async () => {
  const result = await outcomeOf(await subject(() => ({}), { isForgetful: true }), 'lost-answers', again);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('arrived twice') });
});

test('a connector in a process of its own answers and fails as any other, and ends', async () => {
  const module = new URL('../../template-booking/src/second.ts', import.meta.url);
  const other = await connectorInProcess(module, server.url);
  const start = new Date(Date.now() + 24 * 60 * 60 * 1000);
  const end = new Date(start.getTime() + 48 * 60 * 60 * 1000);
  const [slot] = (await other.listTimeSlots?.({ careUnit, start, end, limit: 1 })) ?? [];
  expect(slot?.start).toBeInstanceOf(Date);
  const changes = [{ kind: 'cancel', appointmentId: 'no-such' }] as const;
  const refused = other.changeAppointments?.({ operationId: randomUUID(), careUnit, changes });
  await expect(refused).rejects.toMatchObject({ kind: 'appointment_not_found' });
  await expect(refused).rejects.toBeInstanceOf(ConnectorError);
  await other.close();
  await expect(other.listHealthcareServices?.(careUnit)).rejects.toThrow();
});

test('a connector that does not open in a process of its own says why', async () => {
  await expect(connectorInProcess(new URL('./no-such.ts', import.meta.url))).rejects.toThrow('no-such.ts');
});
