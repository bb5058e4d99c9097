import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { addLimits, watchEventLoop } from './limits.ts';

test('a process that was busy is behind with its work', async () => {
  const eventLoop = watchEventLoop();
  onTestFinished(() => eventLoop.stop());
  // Longer than the time between two looks.
  const end = performance.now() + 2_500;
  while (performance.now() < end);
  await vi.waitFor(() => expect(eventLoop.delayMilliseconds()).toBeGreaterThan(1_000), 10_000);
});

test('an endpoint is 503 while the process is more than five seconds behind, and a probe is not', async () => {
  let delay = 0;
  const app = Fastify();
  onTestFinished(() => app.close());
  const count = () => ({ isAllowed: true, limit: 1, remaining: 1, reset: 1 });
  await addLimits(app, count, { delayMilliseconds: () => delay, stop: () => undefined });
  app.get('/endpoint', { config: { endpoint: true } as never }, async () => 'done');
  app.get('/health', async () => 'done');
  const ask = async (url: string) => {
    const { statusCode, body } = await app.inject({ url });
    return [statusCode, body.includes('overloaded')];
  };
  expect(await ask('/endpoint')).toEqual([200, false]);
  delay = 5_001;
  expect((await ask('/endpoint'))[0]).toBe(503);
  expect(await ask('/health')).toEqual([200, false]);
});
