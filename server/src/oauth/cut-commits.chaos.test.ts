import { expect, onTestFinished, test } from 'vitest';
import { type ProxiedGateway, startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';
import { newKey, requestToken, signAssertion, withKeyClient } from '../../../test/requests/tokens.ts';

const key = await newKey('a');

async function start(): Promise<ProxiedGateway> {
  const gateway = await startProxiedGateway({
    configure: (it) => withKeyClient(it, 'ward-app', { jwks: { keys: [key.publicKey] } }),
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

const isUse = ({ statements }: { readonly statements: readonly string[] }) =>
  statements.some((text) => text.includes('used_assertions AS used'));

test.each(['before', 'after', 'in request', 'in answer'] as const)(
  'a token is given once for an assertion whose use is cut %s',
  async (kind) => {
    const gateway = await start();
    const assertion = await signAssertion('ward-app', key);
    const cut = gateway.proxy.cutNext({ kind }, isUse);
    const { status } = await requestToken(gateway, assertion);
    await cut.met;
    expect(status).toBe(200);
    expect(await requestToken(gateway, assertion)).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
  },
);

test('without a database there is no token, and an assertion that may be used up is not used twice', async () => {
  const gateway = await start();
  const assertion = await signAssertion('ward-app', key);
  const cut = gateway.proxy.cutNext({ kind: 'all', at: 'after' }, isUse);
  const response = await requestToken(gateway, assertion);
  await cut.met;
  expect(response).toMatchObject({ status: 503, body: { reason: 'database_unavailable' } });
  await gateway.proxy.heal();
  await expect.poll(async () => (await requestToken(gateway, await signAssertion('ward-app', key))).status).toBe(200);
  expect((await requestToken(gateway, assertion)).body.error).toBe('invalid_client');
});
