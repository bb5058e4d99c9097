import { exportJWK, exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { type CrosswardClient, createCrosswardClient, TokenError } from './index.ts';
import { clientWithReplies, json, problem, type Reply } from './test-gateway.ts';

const keys = await generateKeyPair('ES384', { extractable: true });
const jwk = { ...(await exportJWK(keys.privateKey)), kid: 'a' };

/** A client with a key: tokens come from the first list, other responses from the second. */
function keyClient(tokens: readonly Reply[], replies: readonly Reply[], privateKey: object = { key: jwk }) {
  const asked: URLSearchParams[] = [];
  const sent: (string | null)[] = [];
  const next = (list: readonly Reply[], index: number, request: Request) => {
    const reply = list[Math.min(index, list.length) - 1];
    if (!reply) throw new Error('No reply is left');
    return reply instanceof Response ? reply.clone() : reply(request);
  };
  const { client } = clientWithReplies([], {
    clientSecret: undefined as never,
    privateKey: privateKey as never,
    retry: { attempts: 2, baseDelayMs: 1 },
    async fetch(request) {
      if (new URL(request.url).pathname === '/api/oauth/token') {
        asked.push(new URLSearchParams(await request.text()));
        return next(tokens, asked.length, request);
      }
      sent.push(request.headers.get('authorization'));
      return next(replies, sent.length, request);
    },
  });
  return { client, asked, sent };
}

const token = (name: string, seconds = 300) =>
  json({ access_token: name, token_type: 'Bearer', expires_in: seconds, scope: '' });
const emr = json({ id: 'sandbox-no' });
const get = ({ emrs }: CrosswardClient, options = {}) => emrs.get('sandbox-no', options);

test('a token is asked for once with an assertion, and kept', async () => {
  const { client, asked, sent } = keyClient([token('t-1')], [emr]);
  await Promise.all([get(client), get(client)]);
  await client.raw.GET('/api/emrs');
  expect(sent).toEqual(['Bearer t-1', 'Bearer t-1', 'Bearer t-1']);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.get('grant_type')).toBe('client_credentials');
  const { payload, protectedHeader } = await jwtVerify(asked[0]?.get('client_assertion') ?? '', keys.publicKey, {
    issuer: 'demo',
    subject: 'demo',
    audience: 'http://gateway.test/api/oauth/token',
    maxTokenAge: 300,
  });
  expect(protectedHeader).toMatchObject({ alg: 'ES384', kid: 'a' });
  expect(payload.jti).toBeDefined();
});

test('a token is replaced before it ends, and when the gateway does not accept it any more', async () => {
  const ending = keyClient([token('t-1', 0), token('t-2')], [emr]);
  await get(ending.client);
  await get(ending.client);
  expect(ending.sent).toEqual(['Bearer t-1', 'Bearer t-2']);

  const { client, sent } = keyClient([token('t-1'), token('t-2')], [emr, problem('credentials_invalid', 401), emr]);
  await get(client);
  await get(client);
  expect(sent).toEqual(['Bearer t-1', 'Bearer t-1', 'Bearer t-2']);
});

test('a client that is rejected gets a TokenError, without retries', async () => {
  const rejected = json({ error: 'invalid_client', error_description: 'The assertion has expired.' }, 400);
  const { client, asked } = keyClient([rejected], [emr]);
  const error = await get(client).catch((it: unknown) => it);
  expect(error).toBeInstanceOf(TokenError);
  expect(error).toMatchObject({ code: 'invalid_client', message: 'invalid_client: The assertion has expired.' });
  expect(asked).toHaveLength(1);
});

test('a token endpoint that is busy is asked again with a new assertion', async () => {
  const { client, asked } = keyClient([problem('database_unavailable', 503), token('t-1')], [emr]);
  await get(client);
  expect(new Set(asked.map((form) => form.get('client_assertion'))).size).toBe(2);
});

test('a call that is aborted does not wait for its token', async () => {
  const { client } = keyClient([() => new Promise<Response>(() => undefined)], [emr]);
  await expect(get(client, { timeoutMs: 20 })).rejects.toMatchObject({ kind: 'timeout' });
});

test('the key can be PEM, and is checked', async () => {
  const { client, asked } = keyClient([token('t-1')], [emr], { key: await exportPKCS8(keys.privateKey), keyId: 'a' });
  await get(client);
  expect(asked).toHaveLength(1);
  const options = { baseUrl: 'http://gateway.test', clientId: 'demo' };
  const key = 'kanari';
  expect(() => createCrosswardClient({ ...options, privateKey: { key } })).toThrow('privateKey.keyId');
  expect(() => createCrosswardClient({ ...options, clientSecret: 's', privateKey: { key, keyId: 'a' } })).toThrow(
    'cannot be used together',
  );
  expect(() => createCrosswardClient(options)).toThrow('clientSecret must not be empty');
  const wrong = keyClient([token('t-1')], [emr], { key, keyId: 'a' });
  const error = await get(wrong.client).catch((it: unknown) => it);
  expect(error).toBeInstanceOf(TokenError);
  expect(String(error)).not.toContain(key);
});

test('a token that the caller has got is sent, alone', async () => {
  const sent: (string | null)[][] = [];
  const options = { baseUrl: 'http://gateway.test', clientId: 'demo', accessToken: 'kanari' };
  const client = createCrosswardClient({
    ...options,
    fetch: async ({ headers }) => {
      sent.push([headers.get('authorization'), headers.get('x-service-client-id')]);
      return emr.clone();
    },
  });
  await get(client);
  expect(sent).toEqual([['Bearer kanari', null]]);
  expect(() => createCrosswardClient({ ...options, clientSecret: 's' })).toThrow('cannot be used together');
  expect(() => createCrosswardClient({ ...options, accessToken: ' ' })).toThrow('accessToken must not be empty');
});
