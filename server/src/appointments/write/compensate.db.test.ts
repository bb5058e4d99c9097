import { randomUUID } from 'node:crypto';
import type { Appointment, Connector } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { sandboxConnector } from '@crossward/connector-sandbox';
import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { withoutTransactions } from '../../../../test/ehrs/limited-ehrs.ts';
import { sandboxEhr } from '../../../../test/ehrs/sandbox.ts';
import { asProblem } from '../../ehr/connector-problems.ts';
import { PartiallyApplied } from '../../problems/write-errors.ts';
import { ehrOperationId } from '../../writes/work.ts';
import type { Work } from '../../writes/write-kind.ts';
import { compensatePlan } from './compensate.ts';
import { performPlan } from './perform-plan.ts';
import type { AppointmentPlan } from './plan.ts';

const { database, dispose } = await createTestDatabase();
afterAll(dispose);
const emr = 'undo';
const careUnit = { id: 'north', timeZone: 'Europe/Oslo', language: 'nb' } as const;
const sandbox = withoutTransactions(
  await sandboxConnector.open({
    emr,
    settings: { country: 'NO' },
    careUnits: [careUnit],
    http: plainHttp(),
    now: () => new Date(),
    database: database.pool,
  }),
);
const staff = sandboxEhr(emr, database);

/** Capabilities of every EHR in this test. */
const { findAppointments, listTimeSlots, changeAppointments } = sandbox as Required<Connector>;

/** Staff cannot change anything between a read and the write that follows it. */
const isRead = (operation: string) => operation.startsWith('find');

/** `stepIn` runs before every read from the EHR and after every write. */
function workIn(operationId: string, stepIn: () => Promise<void>): Work {
  async function call(operation: keyof Connector, ...input: unknown[]) {
    if (isRead(operation)) await stepIn();
    const response = await (sandbox[operation] as (...all: unknown[]) => Promise<unknown>)(...input).catch((error) => {
      throw asProblem(error);
    });
    if (!isRead(operation)) await stepIn();
    return response;
  }
  return {
    ehr: { capabilities: sandbox.capabilities, offers: () => true },
    careUnit,
    writeId: operationId,
    expiresAt: null,
    isFirst: true,
    ehrId: (part?: number | string) => ehrOperationId(operationId, 0, part),
    call,
    compensating: async () => undefined,
  } as unknown as Work;
}

const booking = { patientId: 'p-3', healthcareServiceId: 'consultation', hold: false } as const;

/** A plan that moves two appointments and creates a third. */
async function planned(): Promise<AppointmentPlan> {
  const begin = Date.now() + 7 * 24 * 60 * 60 * 1000;
  const free = await listTimeSlots({
    careUnit,
    start: new Date(begin),
    end: new Date(begin + 14 * 24 * 60 * 60 * 1000),
    resourceIds: ['r-1'],
    healthcareServiceIds: [booking.healthcareServiceId],
    limit: 5,
  });
  const times = free.map(({ start, end, resourceId }) => ({ start, end, resourceId }));
  const creations = times.map((time) => ({ ...booking, ...time, kind: 'create' as const, comment: 'old' }));
  const made = await performPlan(
    workIn(randomUUID(), async () => undefined),
    { many: true, steps: creations.slice(0, 2).map((change) => ({ change })) },
  );
  const moves = [...made.values()].map((before, index) => ({
    before,
    change: { kind: 'update' as const, appointmentId: before.id, time: times[index + 2], comment: 'new' },
  }));
  return { many: true, steps: [...moves, ...creations.slice(4).map((change) => ({ change }))] };
}

async function asItIs(id: string): Promise<Appointment | undefined> {
  return (await findAppointments(careUnit, [id]))[0];
}

const edits = {
  comment: (id: string) => staff.comment(id, 'by staff'),
  move: (id: string) => staff.moveBack(id, 365),
  cancel: (id: string) => staff.cancel(id),
};
const edit = record({
  /** The appointments of the plan. */
  step: integer({ min: 0, max: 2 }),
  kind: constantFrom('comment', 'move', 'cancel'),
  /** The number of moments at which staff could have made their change. */
  after: integer({ min: 0, max: 12 }),
});

test('a change by staff during compensation stays, and everything else is restored', () =>
  assert(
    asyncProperty(array(edit, { maxLength: 4 }), async (drawn) => {
      const plan = await planned();
      const id = randomUUID();
      const done = await performPlan(
        workIn(id, async () => undefined),
        plan,
      );
      const left = new Map<number, Appointment | undefined>();
      let moment = 0;
      const compensation = compensatePlan(
        workIn(id, async () => {
          for (const { step, kind } of drawn.filter(({ after }) => after === moment)) {
            const appointmentId = done.get(step)?.id ?? '';
            await edits[kind as keyof typeof edits](appointmentId);
            left.set(step, await asItIs(appointmentId));
          }
          moment += 1;
        }),
        plan,
      );
      await compensation.catch((error) => {
        if (!(error instanceof PartiallyApplied) || left.size === 0) throw error;
      });
      for (const [step, { id: appointmentId }] of done) {
        const now = await asItIs(appointmentId);
        const before = plan.steps[step]?.before;
        if (left.has(step)) expect(now).toEqual(left.get(step));
        else if (before) expect(now).toEqual(before);
        else expect(now?.state).toBe('cancelled');
      }
      for (const { id: appointmentId } of done.values()) {
        await changeAppointments({
          operationId: randomUUID(),
          careUnit,
          changes: [{ kind: 'cancel', appointmentId }],
        });
      }
    }),
    { numRuns: 60 },
  ));
