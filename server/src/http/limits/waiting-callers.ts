import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Problem, unavailable } from '../../problems/problem.ts';
import type { Stalls } from './pauses.ts';

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
