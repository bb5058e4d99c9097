import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Gateway, Problem } from '../../../../test/gateway/gateway.ts';

/** Sends bytes that no HTTP library would send. */
export function exchangeWith(gateway: Gateway) {
  const { id, secret } = gateway.credentials('everything');
  const credentialLines = `x-service-client-id: ${id}\r\nx-service-client-secret: ${secret}\r\n`;

  /** Everything that a socket receives in response to these bytes, until the gateway closes it. */
  async function exchange(
    text: string | Buffer,
  ): Promise<{ status: number; head: string; body: Problem; raw: string }> {
    const socket = connect(gateway.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    await once(socket, 'close');
    const raw = Buffer.concat(chunks).toString('utf8');
    const [head = '', body = ''] = raw.split('\r\n\r\n');
    return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), head, body: body ? JSON.parse(body) : {}, raw };
  }

  const get = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${credentialLines}${more}\r\n`;

  return {
    exchange,
    /** A GET request with credentials, and with more header lines. */
    get,
  };
}
