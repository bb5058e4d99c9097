import type { FastifyInstance, FastifyRequest } from 'fastify';
import { closeInStages, destroyLater } from '../protocol/staged-close.ts';

/** Bytes. A longer unread body closes the connection; a shorter one is read and discarded. */
const longestRest = 64 * 1024;

/**
 * Handles request bodies that are still arriving when the response is sent, for example after incorrect credentials. A
 * short body is read and discarded within the grace period. If it is long or of unknown length, the connection is
 * closed.
 */
export function addUnreadBody(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { raw } = request;
    if (!raw.complete) {
      const { socket } = raw;
      if (isLong(request)) {
        reply.header('connection', 'close');
        // Node calls destroySoon after the last response of a connection.
        socket.destroySoon = () => closeInStages(socket);
      } else {
        reply.raw.once('finish', () => {
          if (!raw.complete) raw.once('close', destroyLater(socket));
        });
      }
    }
    done();
  });
}

function isLong({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) > longestRest;
}
