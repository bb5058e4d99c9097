import { expect, test } from 'vitest';
import { listenError } from './listen-error.ts';

test('a system on which processes cannot share a port is a mistake in the number of workers', () => {
  const error = Object.assign(new Error('listen ENOTSUP'), { code: 'ENOTSUP' });
  expect(listenError(error, { host: '127.0.0.1', port: 8080 })).toHaveProperty(
    'message',
    expect.stringContaining('CROSSWARD_WORKERS: processes cannot share a port on this system'),
  );
});

test('the message names the setting of the port', () => {
  const error = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(listenError(error, { host: '127.0.0.1', port: 9090 }, 'http.operations_port')).toHaveProperty(
    'message',
    expect.stringContaining('http.operations_port: 9090 on 127.0.0.1 is in use'),
  );
});
