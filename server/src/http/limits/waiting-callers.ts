import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Problem, unavailable } from '../../problems/problem.ts';
import { sinceBoot } from '../../time/since-boot.ts';

/**
 * Adds `assertCallerWaits` and `begin` to requests, for the moment before their first effect. A process that stood still, such as a
 * suspended virtual machine, would otherwise perform requests whose callers have given up and asked again.
 */
export function addWaitingCallers(app: FastifyInstance, pauses: Stalls): void {
  app.addHook('onClose', async () => pauses.stop());
  app.decorateRequest('receivedAt', 0);
  app.decorateRequest('assertCallerWaits', async function () {
    // First the event loop reads what has arrived, such as the end of the connection. The first turn may be the rest of the
    // one that has read the request.
    await setImmediate();
    await setImmediate();
    const { socket } = this.raw;
    if (socket.destroyed || socket.readableEnded) {
      throw unavailable('overloaded', { detail: 'The caller has closed the connection. Nothing was changed.' });
    }
    if (pauses.hadPauseBefore(this.receivedAt)) throw stoodStill();
  });
  app.decorateRequest('begin', async function () {
    await this.assertCallerWaits();
    this.hasBegun = true;
  });
  app.addHook('onRequest', (request, _reply, done) => {
    request.receivedAt = performance.now();
    done();
  });
}

/** 503 `overloaded` for a request that may have waited while this process stood still. */
export function stoodStill(): Problem {
  const detail = 'The gateway stood still, and the request may have waited for seconds. Nothing was changed.';
  return unavailable('overloaded', { detail, retryAfterSeconds: 1 });
}

/** Milliseconds between two looks at the clock. */
const interval = 1_000;
/** Milliseconds. Callers rarely give up earlier, and a closed connection is noticed after any pause. */
const longest = 10_000;

/** Milliseconds. What arrived during a pause is read within this time after it. */
const reading = 2_000;

export interface Stalls {
  /** Whether what was read at this time, by `performance.now()`, may have arrived during a pause of more than ten seconds. */
  hadPauseBefore(readAt: number): boolean;
  stop(): void;
}

/**
 * Notices that this process stood still: stopped, suspended with its machine, or busy.
 */
export function watchPauses(): Stalls {
  let latestEnd = Number.NEGATIVE_INFINITY;
  let before = sinceBoot();
  const look = () => {
    const now = sinceBoot();
    if (now - before > longest) latestEnd = performance.now();
    before = now;
  };
  const timer = setInterval(look, interval).unref();
  return {
    hadPauseBefore(readAt) {
      // Right after a pause, requests are read before timers run.
      look();
      return readAt < latestEnd + reading;
    },
    stop: () => clearInterval(timer),
  };
}
