import { setTimeout } from 'node:timers/promises';
import { bookingOf, changeOf } from '../processes/child-client.ts';
import type { ChildRequest } from '../processes/child-gateway.ts';
import { oslo, type Slot } from './bookings.ts';
import { newKey } from './idempotency-keys.ts';

const mostAtOnce = 20;

interface Target {
  readonly address: string;
  readonly credentials: Readonly<Record<string, string>>;
}

export interface SteadyLoad {
  /** Resolves after so many further responses. */
  progress(responses: number): Promise<void>;
  /** Resolves when every request that has been sent by now has its response. */
  settled(): Promise<void>;
  /** How many requests were sent, and what became of those that did not succeed. */
  stop(): Promise<{ readonly sent: number; readonly failures: readonly string[] }>;
}

/**
 * Callers that send a fixed number of requests a second, as long as they get responses, and repeat none: nine reads for each write. A writer books a slot and
 * cancels the appointment, then the next one.
 *
 * @param slots nobody else books them
 */
export function startSteadyLoad(target: Target, slots: readonly Slot[], perSecond: number): SteadyLoad {
  const failures: string[] = [];
  const pending = new Set<Promise<unknown>>();
  let sent = 0;
  let ended = 0;
  let isStopped = false;

  async function send<Body>({ method, path, body, headers }: ChildRequest): Promise<Body | undefined> {
    sent++;
    try {
      const response = await fetch(target.address + path, {
        method,
        headers: { ...target.credentials, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as Body;
      failures.push(`${method} ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      failures.push(`${method} ${error instanceof Error ? `${error.message} ${String(error.cause)}` : error}`);
    } finally {
      ended++;
    }
    return undefined;
  }

  let booked: string | undefined;
  let next = 0;
  async function write(): Promise<void> {
    if (booked === undefined) {
      const slot = slots[next++ % slots.length];
      if (slot) booked = (await send<{ id: string }>(bookingOf(slot, newKey())))?.id;
      return;
    }
    const id = booked;
    booked = undefined;
    await send(changeOf(id, newKey(), { status: 'cancelled' }));
  }

  async function run(): Promise<void> {
    const begun = performance.now();
    let isWriting = false;
    // One at a time: a busy machine has fewer of them.
    const writeNext = async () => {
      isWriting = true;
      await write();
      isWriting = false;
    };
    for (let turn = 0; !isStopped; turn++) {
      await setTimeout(Math.max(0, begun + (turn * 1000) / perSecond - performance.now()));
      // What a slow machine cannot serve says nothing about the gateway.
      while (pending.size >= mostAtOnce) await Promise.race(pending);
      const isWrite = turn % 10 === 0 && !isWriting;
      const request = isWrite ? writeNext() : send({ method: 'GET', path: `${oslo}/appointments?patient_id=p-3` });
      pending.add(request);
      void request.finally(() => pending.delete(request));
    }
    await Promise.all(pending);
  }

  const running = run();
  return {
    async progress(responses) {
      const goal = ended + responses;
      while (ended < goal) await setTimeout(20);
    },
    async settled() {
      await Promise.all(pending);
    },
    async stop() {
      isStopped = true;
      await running;
      return { sent, failures };
    },
  };
}
