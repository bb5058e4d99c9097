import { onTestFinished } from 'vitest';
import { type FakeOptions, type FakeServer, startFake as start } from '../fake/server.ts';

/** Starts a fake server that closes itself at the end of the test. */
export async function startFake(options: FakeOptions = {}): Promise<FakeServer> {
  const server = await start(options);
  onTestFinished(() => server.close());
  return server;
}
