import type { Socket } from 'node:net';

/** Milliseconds that a caller has to read the response while its further data is discarded. */
const grace = 2_000;

/**
 * Writes the end of a response and closes the connection in stages (RFC 9112 section 9.6). Closing a connection with
 * unread incoming data resets it, and the caller can lose the response. The wait is limited by the grace period.
 */
export function closeInStages(socket: Socket, last = ''): void {
  socket.end(last);
  destroyLater(socket);
}

/** Destroys the connection after the grace period. The returned function cancels that. */
export function destroyLater(socket: Socket): () => void {
  const timer = setTimeout(() => socket.destroy(), grace);
  const cancel = () => clearTimeout(timer);
  socket.once('close', cancel);
  return () => {
    socket.removeListener('close', cancel);
    cancel();
  };
}
