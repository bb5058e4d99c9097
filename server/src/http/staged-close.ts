import type { Socket } from 'node:net';

/** Milliseconds in which a caller may take in the answer, while what it still sends is thrown away. */
const grace = 2_000;

/**
 * Sends the last of an answer and closes in stages (RFC 9112 section 9.6). A connection that is closed while something
 * comes in is reset, and the caller can lose the answer. One that never stops to send is not heard for long.
 */
export function closeInStages(socket: Socket, last = ''): void {
  socket.end(last);
  destroyLater(socket);
}

/** Destroys the connection when the grace is over, unless it is called off by the answered function. */
export function destroyLater(socket: Socket): () => void {
  const timer = setTimeout(() => socket.destroy(), grace);
  const callOff = () => clearTimeout(timer);
  socket.once('close', callOff);
  return () => {
    socket.removeListener('close', callOff);
    callOff();
  };
}
