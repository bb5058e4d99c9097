import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChildRequest } from '../processes/child-gateway.ts';
import { type Slot, sodermalm } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';
import { appointments } from './appointments.ts';
import { writesWithCodes } from './codes.ts';
import type { Case } from './operation.ts';
import { doneAfter, type Point, pointsOf, someOf, statesOf } from './points.ts';
import { hasPassed, recordPassed } from './progress.ts';
import { records } from './records.ts';
import { change, create } from './requests.ts';
import { schedules } from './schedules.ts';
import { type AppointmentResponse, createWorld, type Kind } from './world.ts';

/*
 * Kills the gateway between a request and its response, restarts it and retries the request. `npm run test:crash-points`
 * covers every statement; otherwise a sample of the possible database states.
 */

const all = process.env.CRASH_POINTS === 'all';
const operations = [...appointments, ...writesWithCodes, ...records, ...schedules];

function underKey(request: ChildRequest, key: string, killAt?: string): ChildRequest {
  return { ...request, headers: { 'idempotency-key': key, ...(killAt === undefined ? {} : { 'x-kill-at': killAt }) } };
}

function expectReplay(again: AppointmentResponse, first: AppointmentResponse): void {
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect(again.headers.get('idempotency-replayed')).toBe('true');
}

describe.each<{ kind: Kind; sampling: number }>([
  { kind: 'postgresql', sampling: 3 },
  { kind: 'pglite', sampling: 8 },
])('killed on $kind', { timeout: all ? 3_600_000 : 600_000 }, ({ kind, sampling }) => {
  /** A gateway start takes seconds, so a normal run covers only the requests with the most steps; `all` covers every request. */
  const sampled = {
    postgresql: [
      'a move that books anew',
      'a booking by code',
      'a confirmation',
      'a resend',
      'a patient',
      'a medical note',
      'a document',
      'a schedule',
    ],
    pglite: ['a booking'],
  }[kind];
  const nameInState = (name: string) => `${name} on ${kind}`;
  const killed = operations.filter(({ name }) => all || sampled.includes(name));

  test.concurrent.for(killed)('$name is executed once', async ({ name, prepare, completesAfter, every }, context) => {
    if (hasPassed(nameInState(name))) context.skip('passed in an earlier run');
    const world = await createWorld(kind, context.onTestFinished);
    const pointsIn = (statements: readonly string[]) =>
      all ? pointsOf(statements) : someOf(statesOf(statements), every * sampling);
    const executedStatements = async (): Promise<string[]> => {
      const it = await prepare(world);
      const key = randomUUID();
      const complete = await world.send(underKey(it.request, key, 'count'));
      if (complete.body.reason === 'outcome_unknown') {
        // A busy PostgreSQL answered a COMMIT too late: the retry settles this write, and another one is counted.
        expect(await world.settled(underKey(it.request, key))).toMatchObject({ status: it.status });
        return executedStatements();
      }
      expect([complete.status, complete.text]).toEqual([it.status, expect.anything()]);
      await it.expectDone(complete, true);
      return JSON.parse(decodeURIComponent(complete.headers.get('x-statements') ?? ''));
    };

    for (const { killAt } of pointsIn(await executedStatements())) {
      const it = await prepare(world);
      const key = randomUUID();
      await world.crashDuring(underKey(it.request, key, killAt));
      const first = await world.settled(underKey(it.request, key));
      expect({ killAt, status: first.status, text: first.text }).toMatchObject({ killAt, status: it.status });
      await it.expectDone(first, true);
      expectReplay(await world.send(underKey(it.request, key)), first);
    }

    // A gateway that has just started reads more: it remembers no timetable.
    await world.restart();
    const statements = await executedStatements();
    await world.restart();
    const points = pointsIn(statements);
    const from = doneAfter(statements, completesAfter);
    const left: { readonly it: Case; readonly key: string; readonly point: Point }[] = [];
    for (const point of all ? points : someOf(points, 3)) {
      const it = await prepare(world);
      const key = randomUUID();
      await world.crashDuring(underKey(it.request, key, point.killAt));
      left.push({ it, key, point });
    }
    for (const { it, point } of left) {
      const expectIt = point.executed >= from ? it.expectDoneWithoutRetry : it.expectNothingDone;
      await eventually(expectIt).catch((error) => {
        throw new Error(`Killed ${point.killAt} of ${statements.length}, without a client retry`, { cause: error });
      });
    }
    // A final retry finds the idempotency key released and the result of the operation.
    for (const { it, key } of left) {
      const first = await world.settled(underKey(it.request, key));
      expect(first.status).toBe(it.status);
      await it.expectDone(first, false);
    }
    expect(await world.violations()).toEqual({});
    await recordPassed(nameInState(name));
  });

  if (!all && kind === 'pglite') return;
  test.concurrent('a crash during message delivery delivers the code once', async (context) => {
    const world = await createWorld(kind, context.onTestFinished);
    const steps = ['before 1', 'after 1', 'before 2', 'after 2', 'before 3', 'after 3'];
    for (const step of all ? steps : someOf(steps, 2 * sampling)) {
      await world.restart({ KILL_DELIVERY: step });
      const [slot] = (await world.take(sodermalm, 'r-1', 1)) as [Slot];
      const key = randomUUID();
      // The process may end before it responds.
      const request = underKey(create(sodermalm, slot), key);
      await world.send(request).catch(() => undefined);
      await world.ended();
      await world.restart();
      const { body } = await world.settled(request);
      const code = await world.codeFor(body.id);
      await world.done(change(sodermalm, body.id, { confirmation: { code } }));
      await world.codeFor(body.id);
    }
    expect(await world.violations()).toEqual({});
  });
});
