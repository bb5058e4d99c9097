import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';
import type { Desk } from './desk.ts';
import { createAssistantServer } from './server.ts';

/** Serves one host on standard input and output until it closes the input. */
export async function serveHost(desk: Desk, input: Readable, version: string, log: Logger): Promise<void> {
  const connection = serveStdio(() => createAssistantServer(desk, version, log), {
    onerror: (error) => log.warn({ error: describeError(error) }, 'message not understood'),
  });
  await once(input, 'end');
  await connection.close();
}
