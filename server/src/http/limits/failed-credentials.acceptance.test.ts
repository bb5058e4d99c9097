/** @module-tag any-database */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Gateway, type GatewayOptions, type Problem, startGateway } from '../../../../test/gateway/gateway.ts';

async function strictGateway(http: Partial<GatewayConfiguration['http']> = {}): Promise<Gateway> {
  const gateway = await startGateway({
    configure: (it) => ({ ...it, limits: { ...it.limits, failed_credentials: 3 }, http: { ...it.http, ...http } }),
  });
  onTestFinished(() => gateway.close());
  return gateway;
}
type GatewayConfiguration = Parameters<NonNullable<GatewayOptions['configure']>>[0];

const wrong = { id: 'everything', secret: 'wrong' };

async function failUntilRejected(gateway: Gateway, headers: Record<string, string> = {}) {
  for (let count = 0; count < 3; count++) {
    expect((await gateway.request('GET', '/api/emrs', { client: wrong, headers })).status).toBe(401);
  }
}

describe('incorrect credentials', () => {
  test('get 429 with Retry-After after too many', async () => {
    const gateway = await strictGateway();
    await failUntilRejected(gateway);
    // However slow the machine is: the delays increase.
    const rejected = async () => gateway.request<Problem>('GET', '/api/emrs', { client: wrong });
    await expect.poll(async () => (await rejected()).status, { interval: 0 }).toBe(429);
    const responses = await Promise.all(Array.from({ length: 50 }, rejected));
    const response = responses.find(({ status }) => status === 429);
    expect(response).toMatchObject({ body: { reason: 'rate_limited', retryable: true } });
    const seconds = Number(response?.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(response?.headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    });
    expect(response?.headers).not.toHaveProperty('www-authenticate');
    expect(responses.filter(({ status }) => status === 401).length).toBeLessThan(10);
  });

  test('never block valid credentials', async () => {
    const gateway = await strictGateway();
    await failUntilRejected(gateway);
    for (let count = 0; count < 10; count++) {
      await gateway.request('GET', '/api/emrs', { client: wrong });
      expect((await gateway.request('GET', '/api/emrs')).status).toBe(200);
      expect((await gateway.request('GET', '/api/emrs', { client: 'narrowed' })).status).toBe(200);
    }
  });

  test('are not counted if none were sent', async () => {
    const gateway = await strictGateway();
    for (let count = 0; count < 20; count++) {
      expect((await gateway.request('GET', '/api/emrs', { client: null })).status).toBe(401);
    }
  });

  test('are logged with the address, and with the client id if the client exists', async () => {
    const gateway = await strictGateway();
    await gateway.request('GET', '/api/emrs', { client: wrong });
    await gateway.request('GET', '/api/emrs', { client: { id: '15859000026', secret: 'wrong' } });
    const lines = () => gateway.logLines.map((line) => JSON.parse(line)).filter(({ status }) => status === 401);
    await expect.poll(lines).toMatchObject([
      { address: '127.0.0.1', claimed_client: 'everything', reason: 'credentials_invalid' },
      { address: '127.0.0.1', reason: 'credentials_invalid' },
    ]);
    expect(gateway.logLines.join('')).not.toContain('15859000026');
  });

  test('are counted in a metric', async () => {
    const gateway = await strictGateway();
    await gateway.request('GET', '/api/emrs', { client: null });
    for (let count = 0; count < 8; count++) await gateway.request('GET', '/api/emrs', { client: wrong });
    const text = await gateway.deps.metrics.metrics();
    const count = (kind: string) =>
      Number(new RegExp(`crossward_credentials_rejected_total\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1]);
    expect(count('missing')).toBe(1);
    expect(count('wrong')).toBeGreaterThanOrEqual(3);
    expect(count('wrong') + count('slowed')).toBe(8);
  });
});

describe('behind a proxy', () => {
  const addresses = (gateway: Gateway) =>
    gateway.logLines
      .map((line) => JSON.parse(line) as { readonly address?: string })
      .flatMap(({ address }) => address ?? []);

  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['198.51.100.7, 127.0.0.2', '198.51.100.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['15859000026', '127.0.0.1'],
    ['unknown', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('that is trusted, X-Forwarded-For "%s" means %s', async (forwarded, address) => {
    const gateway = await strictGateway({ trusted_proxies: ['127.0.0.0/8'] });
    await gateway.request('GET', '/api/emrs', { client: wrong, headers: { 'x-forwarded-for': forwarded } });
    await expect.poll(() => addresses(gateway)).toEqual([address]);
  });

  test('that is not trusted, X-Forwarded-For is ignored', async () => {
    const gateway = await strictGateway();
    await gateway.request('GET', '/api/emrs', { client: wrong, headers: { 'x-forwarded-for': '198.51.100.7' } });
    await expect.poll(() => addresses(gateway)).toEqual(['127.0.0.1']);
  });
});

test('the first challenge is that of access tokens', async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.close());
  for (const path of ['/api/emrs', '/api/emrs/sandbox-no/care-units/oslo-sentrum/fhir-r4/Slot']) {
    const { status, headers } = await gateway.request('GET', path, { client: null });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Bearer\b/);
  }
});
