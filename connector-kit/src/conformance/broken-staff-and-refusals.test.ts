import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts, staffOf } from '../../template-booking/src/subject.ts';
import { type Connector, ConnectorError } from '../index.ts';
import { outcomeOf } from './broken.test-support.ts';
import type { Subject } from './subject.ts';

const server = await startEhr();
afterAll(() => server.close());
const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

type Right = Required<Connector>;

function open(): Promise<Right> {
  return clinic.open(contextFor(server.url)) as Promise<Right>;
}

/** The connector of the template with a defect, and staff of its EHR. */
async function subject(defects: (right: Right) => Partial<Connector> = () => ({})): Promise<Subject> {
  const right = await open();
  return {
    name: 'clinic',
    connector: { ...right, ...defects(right) },
    careUnit,
    facts,
    directChanges: staffOf(await open(), server.ehr),
  };
}

const revive = (what: string) => `a ${what} does not revive what staff cancel before its write`;
const taken = 'a booking does not take a time that staff book before its write';
const kept = 'a move keeps a comment that staff write before its write';
const place = 'a comment or a cancellation does not move back what staff move before its write';
const forbidden = 'a write that is forbidden is told as rejected, and is not repeated';
const failed = 'a write that the EHR fails at is told as unknown, and is not repeated';

test.each([
  ...[revive('move'), revive('comment'), taken, kept, place].map((it) => ['staff-in-between', it] as const),
  ...[forbidden, failed].map((it) => ['refusals', it] as const),
])('the connector of the template passes: %s: %s', async (capability, check) => {
  expect(await outcomeOf(await subject(), capability, check)).toMatchObject({ outcome: 'passed', reason: null });
});

/** Books anew what somebody has cancelled in between. */
const revives = ({ changeAppointments, findAppointments }: Right): Partial<Connector> => ({
  async changeAppointments(write) {
    const [change] = write.changes;
    if (change?.kind !== 'update') return changeAppointments(write);
    const [before] = await findAppointments(write.careUnit, [change.appointmentId]);
    try {
      return await changeAppointments(write);
    } catch (error) {
      if (!before?.resourceId || !before.end) throw error;
      const { start, end } = change.time ?? { start: before.start, end: before.end };
      const { patientId, resourceId, healthcareServiceId } = before;
      const again = { patientId, resourceId, healthcareServiceId: healthcareServiceId ?? '', start, end };
      const changes = [{ kind: 'create', ...again, comment: before.comment, holdUntil: null }] as const;
      return changeAppointments({ ...write, operationId: randomUUID(), changes });
    }
  },
});

/** Sends back the whole appointment as it was read. */
const overwrites = ({ changeAppointments, findAppointments }: Right): Partial<Connector> => ({
  async changeAppointments(write) {
    const [change] = write.changes;
    if (change?.kind !== 'update') return changeAppointments(write);
    const [before] = await findAppointments(write.careUnit, [change.appointmentId]);
    if (!before?.end) return changeAppointments(write);
    const time = change.time ?? { start: before.start, end: before.end };
    const whole = { comment: before.comment, ...change, time };
    return changeAppointments({ ...write, changes: [whole] });
  },
});

const retriesRefusals =
  (attempts: number) =>
  ({ changeAppointments }: Right): Partial<Connector> => ({
    async changeAppointments(write) {
      for (let attempt = 1; ; attempt++) {
        const [made] = await Promise.allSettled([changeAppointments(write)]);
        if (made.status === 'fulfilled') return made.value;
        if (attempt === attempts) throw made.reason;
      }
    },
  });

/** Whatever answers, as the page of a proxy does. */
const takesForGone = ({ changeAppointments }: Right): Partial<Connector> => ({
  changeAppointments: (write) =>
    changeAppointments(write).catch((error: ConnectorError) => {
      if (error.refusal?.status !== 404) throw error;
      throw new ConnectorError('appointment_not_found', 'No such appointment', { nothingChanged: true });
    }),
});

const takesForLost = ({ changeAppointments }: Right): Partial<Connector> => ({
  changeAppointments: (write) =>
    changeAppointments(write).catch(() => {
      throw new ConnectorError('time_slot_unavailable', 'Taken', { nothingChanged: true });
    }),
});

test.each([
  ['books anew what staff have cancelled', revives, 'staff-in-between', revive('comment'), 'revived it'],
  ['overwrites a comment of staff', overwrites, 'staff-in-between', kept, 'Staff wrote a comment'],
  ['moves back what staff have moved', overwrites, 'staff-in-between', place, 'moved it back'],
  ['makes a loop of a refusal', retriesRefusals(20), 'refusals', forbidden, 'sent 20 times'],
  ['sends a refused request twice more', retriesRefusals(3), 'refusals', forbidden, 'the same request 3 times'],
  [
    'takes the page of a proxy for an appointment that is gone',
    takesForGone,
    'refusals',
    forbidden,
    'after status 404',
  ],
  ['tells a refusal as a lost time', takesForLost, 'refusals', forbidden, 'expected rejected'],
  ['tells a failure as a lost time', takesForLost, 'refusals', failed, 'expected outcome_unknown'],
] as const)('the kit catches a connector that %s', async (_, defects, capability, check, reason) => {
  const result = await outcomeOf(await subject(defects), capability, check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});
