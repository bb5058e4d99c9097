import type { FastifyInstance, FastifyRequest } from 'fastify';
import { closeInStages, destroyLater } from './staged-close.ts';

/** Bytes that are worth throwing away to keep the connection. */
const longestRest = 64 * 1024;

/**
 * An answer can go out before the body has arrived: the credentials are wrong, the body is too long, or nobody wants it.
 * A short rest is read for a short time. For a long one, or one of unknown length, the connection is closed.
 */
export function addUnreadBody(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { raw } = request;
    if (!raw.complete) {
      const { socket } = raw;
      if (isLong(request)) {
        reply.header('connection', 'close');
        // What Node calls after the last answer of a connection.
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
