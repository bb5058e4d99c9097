import { expect, onTestFinished, test } from 'vitest';
import { startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';

test('without a database a gateway limits requests and incorrect credentials by itself, and shares them again', async () => {
  const limits = { requests_per_minute: 20, failed_credentials: 5 };
  const gateway = await startProxiedGateway({
    configure: (it) => ({ ...it, limits: { ...it.limits, ...limits } }),
  });
  onTestFinished(() => gateway.close());
  gateway.proxy.goDown();
  const sendAll = async (count: number, options: Parameters<typeof gateway.request>[2]) => {
    const statuses: number[] = [];
    for (let index = 0; index < count; index++) {
      statuses.push((await gateway.request('GET', '/api/emrs', options)).status);
    }
    return statuses;
  };
  const requests = await sendAll(30, { client: 'everything' });
  expect(requests.filter((status) => status === 200)).toHaveLength(20);
  expect(requests.slice(20).every((status) => status === 429)).toBe(true);
  const wrong = await sendAll(12, { client: { id: 'everything', secret: 'wrong' } });
  expect(wrong.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
  expect(wrong).toContain(429);
  await gateway.proxy.heal();
  const left = async () => (await gateway.request('GET', '/api/emrs', { client: 'narrowed' })).headers;
  await expect.poll(async () => (await left())['ratelimit-limit']).toBe('20');
});
