import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isWrite, type Way } from '../postgres-proxy/ways.ts';
import type { ChildRequest } from '../processes/child-gateway.ts';
import { eventually } from '../requests/codes.ts';
import { appointments } from './appointments.ts';
import { writesWithCodes } from './codes.ts';
import type { Case, Operation } from './operation.ts';
import { hasPassed, recordPassed } from './progress.ts';
import { records } from './records.ts';
import { schedules } from './schedules.ts';
import { type AppointmentResponse, createWorld, type World } from './world.ts';

/*
 * Breaks the connection to the database at each commit of a request, in every way, and then does as the response says. With
 * `CRASH_POINTS=all` at each commit of every request; otherwise at a sample.
 */

const all = process.env.CRASH_POINTS === 'all';
const operations = [...appointments, ...writesWithCodes, ...records, ...schedules];
/** One with every kind of commit: a plan alone, two steps, a plan that reserves, records, a counted code, no records. */
const sampled = [
  'a booking',
  'a move that books anew',
  'a booking by code',
  'a confirmation',
  'an incorrect code',
  'a document',
];

const ways: readonly Way[] = [
  { kind: 'before' },
  { kind: 'after' },
  { kind: 'in request' },
  { kind: 'in answer' },
  { kind: 'late', holdMilliseconds: 1_500 },
  { kind: 'all', at: 'before', refuseMilliseconds: 500 },
  { kind: 'all', at: 'after', refuseMilliseconds: 500 },
];

const nameOf = (way: Way) => (way.kind === 'all' ? `all, ${way.at}` : way.kind);

function underKey(request: ChildRequest, key: string | undefined): ChildRequest {
  return key === undefined ? request : { ...request, headers: { 'idempotency-key': key } };
}

interface Sent {
  readonly it: Case;
  readonly key: string | undefined;
  readonly response: AppointmentResponse;
}

/** Sends the request, and breaks the connection at its n-th write. `undefined`: it has fewer. */
async function cutAt(
  world: World,
  { prepare }: Operation,
  { way, write, key }: { readonly way: Way; readonly write: number; readonly key: string | undefined },
): Promise<Sent | undefined> {
  const { proxy } = world;
  if (!proxy) throw new Error('The world has no proxy');
  const it = await prepare(world);
  const before = proxy.cuts.length;
  let seen = 0;
  const cut = proxy.cutNext(way, (unit) => isWrite(unit) && ++seen === write);
  const response = await world.send(underKey(it.request, key));
  // Later writes are those of background jobs.
  const isMet = proxy.cuts.length > before;
  await (isMet ? cut.settled : proxy.heal());
  await proxy.comeUp();
  await eventually(async () => expect((await world.send({ method: 'GET', path: '/health/ready' })).status).toBe(200));
  return isMet ? { it, key, response } : undefined;
}

/** Repeats the request as its problem document says. */
async function obey(world: World, { it, key, response }: Sent): Promise<AppointmentResponse> {
  let last = response;
  while (last.status === 503 || last.status === 504 || last.body.reason === 'idempotency_in_progress') {
    expect(last.body).toMatchObject({ retryable: true });
    // As if `Retry-After` had passed.
    await world.expireLeases();
    await sleep(20);
    last = await world.send(underKey(it.request, key));
  }
  return last;
}

describe('the connection to the database breaks at a commit', { timeout: all ? 3_600_000 : 600_000 }, () => {
  const cutHere = all ? operations : operations.filter(({ name }) => sampled.includes(name));

  test.concurrent.for(ways.map((way) => ({ name: nameOf(way), way })))(
    '$name: each write is made once, and nothing is told wrongly',
    async ({ way, name }, context) => {
      const nameInState = `cuts ${name}`;
      if (hasPassed(nameInState)) context.skip('passed in an earlier run');
      const world = await createWorld('postgresql', context.onTestFinished, { proxied: true });
      const unkeyed: (Sent & { readonly about: object })[] = [];
      for (const operation of cutHere) {
        for (let write = 1; ; write++) {
          const sent = await cutAt(world, operation, { way, write, key: randomUUID() });
          if (!sent) break;
          const about = { operation: operation.name, write, way: name };
          const last = await obey(world, sent);
          const told = { ...about, first: sent.response.text };
          expect({ ...told, status: last.status }).toEqual({ ...told, status: sent.it.status });
          await sent.it.expectDone(last, false).catch(failed(about));
          const without = await cutAt(world, operation, { way, write, key: undefined });
          if (without) unkeyed.push({ ...without, about });
        }
      }
      await world.expireLeases();
      expect(await world.violations()).toEqual({});
      // What was told of a request without a key is still true when the background jobs have done their work.
      for (const { it, response, about } of unkeyed) {
        const { status, text } = response;
        const isTold = [it.status, 503, 504].includes(status);
        expect({ ...about, isTold, text }).toEqual({ ...about, isTold: true, text });
        if (status === it.status) await it.expectDone(response, false).catch(failed(about));
        if (status === 503) await it.expectNothingDone().catch(failed(about));
      }
      await recordPassed(nameInState);
    },
  );
});

function failed(about: object) {
  return (cause: unknown): never => {
    throw new Error(JSON.stringify(about), { cause });
  };
}
