import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ChildRequest } from '../child-gateway.ts';
import { isWrite, type Way } from '../postgres-proxy/ways.ts';
import { appointments } from './appointments.ts';
import { writesWithCodes } from './codes.ts';
import type { Case, Operation } from './operation.ts';
import { someOf } from './points.ts';
import { records } from './records.ts';
import { schedules } from './schedules.ts';
import { type AppointmentResponse, createWorld, type World } from './world.ts';

/*
 * Breaks the connection to the database at each commit of a request, in every way, and then does as the response says. With
 * `CRASH_POINTS=all` at each commit of every request; otherwise at a sample.
 */

const all = process.env.CRASH_POINTS === 'all';
const operations = [...appointments, ...writesWithCodes, ...records, ...schedules];

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

describe.each(ways.map((way) => ({ name: nameOf(way), way })))(
  'the connection to the database breaks: $name',
  { timeout: all ? 3_600_000 : 600_000 },
  ({ way }) => {
    const cutHere = all ? operations : someOf(operations, 3);

    test.for(cutHere)('$name is made once', async (operation, context) => {
      const world = await createWorld('postgresql', context.onTestFinished, { proxied: true });
      const unkeyed: Sent[] = [];
      for (let write = 1; ; write++) {
        const sent = await cutAt(world, operation, { way, write, key: randomUUID() });
        if (!sent) break;
        const about = { write, way: nameOf(way), first: sent.response.text };
        const last = await obey(world, sent);
        expect({ ...about, status: last.status, text: last.text }).toEqual({
          ...about,
          status: sent.it.status,
          text: expect.anything(),
        });
        await sent.it.expectDone(last, false).catch((cause) => {
          throw new Error(JSON.stringify(about), { cause });
        });
        const without = await cutAt(world, operation, { way, write, key: undefined });
        if (without) unkeyed.push(without);
      }
      await world.expireLeases();
      expect(await world.violations()).toEqual({});
      // Nothing is told wrongly, also not when the background jobs have done their work.
      for (const { it, response } of unkeyed) {
        const about = { way: nameOf(way), status: response.status, text: response.text };
        const told = { [it.status]: () => it.expectDone(response, false), 503: () => it.expectNothingDone() }[
          response.status
        ];
        if (response.status !== 504 && !told) expect(about).toEqual('a success, 503 or 504');
        await told?.().catch((cause: unknown) => {
          throw new Error(JSON.stringify(about), { cause });
        });
      }
    });
  },
);
