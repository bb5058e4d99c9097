import { expect, onTestFinished, test } from 'vitest';
import { startProxiedGateway } from './proxied-gateway.ts';

test('each of two gateways on a database has a proxy of its own', async () => {
  const first = await startProxiedGateway();
  onTestFinished(() => first.close());
  const second = await startProxiedGateway({ beside: first });
  onTestFinished(() => second.close());
  const readiness = async ({ request }: typeof first) =>
    (await request('GET', '/health/ready', { client: null })).status;
  expect([await readiness(first), await readiness(second)]).toEqual([200, 200]);
  first.proxy.goDown();
  expect([await readiness(first), await readiness(second)]).toEqual([503, 200]);
  await first.proxy.comeUp();
  await expect.poll(() => readiness(first)).toBe(200);
});
