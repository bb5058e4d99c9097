import { generateKeyPairSync } from 'node:crypto';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { exportJWK, importSPKI, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { careUnits } from '../fake/data-set.ts';
import { listen, send } from '../fake/http-server.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { AuthSettings, FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

const secret = (text: string) => ({ reveal: () => text });

interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

/** A token server that issues numbered tokens if `accepts` returns true, and a FHIR server that accepts the newest. */
async function start(
  accepts: (request: TokenRequest) => Promise<boolean> | boolean,
  { expiresIn = 3600, rejection = 401, more = {} } = {},
) {
  const requests: TokenRequest[] = [];
  const valid = { token: 0 };
  const tokens = await listen(async (request, response, body) => {
    const tokenRequest = { form: new URLSearchParams(body), authorization: request.headers.authorization };
    requests.push(tokenRequest);
    const result = (await accepts(tokenRequest))
      ? { access_token: `token-${++valid.token}`, token_type: 'bearer', expires_in: expiresIn, ...more }
      : { error: 'invalid_client', error_description: 'secret s3cret is wrong' };
    const headers = { 'content-type': 'application/json' };
    send(response, 'error' in result ? rejection : 200, result, headers);
  });
  onTestFinished(() => tokens.close());
  const fhir = await startFake({ authorization: () => `Bearer token-${valid.token}`, data: { days: 3 } });
  const open = (auth: AuthSettings, settings: Partial<FhirSettings> = {}) =>
    openConnector(settingsFor(fhir.url, { auth, ...settings }));
  const probe = (auth: AuthSettings) => {
    const settings = settingsFor(fhir.url, { auth });
    return fhirR4Connector.probe?.({ emr: 'fhir', settings, careUnits, http: plainHttp(), now: () => new Date() });
  };
  return { requests, valid, url: `${tokens.url}/token`, fhir, open, probe };
}

const anyPatient = { type: 'emr_id', value: 'p-1' } as const;

describe('signing in', () => {
  test('works with a user name and password, and with a bearer token', async () => {
    const pair = `Basic ${Buffer.from('gateway:s3cret').toString('base64')}`;
    for (const [auth, header] of [
      [{ type: 'basic', username: 'gateway', password: secret('s3cret') }, pair],
      [{ type: 'bearer', token: secret('t0ken') }, 'Bearer t0ken'],
    ] as const) {
      const fhir = await startFake({ authorization: () => header, data: { days: 3 } });
      const connector = await openConnector(settingsFor(fhir.url, { auth }));
      expect(await connector.findPatient?.(anyPatient)).toMatchObject({ id: 'p-1' });
      await expect(openConnector(settingsFor(fhir.url))).rejects.toMatchObject({ kind: 'rejected' });
    }
  });

  test.each(['header', 'body'] as const)(
    'sends the client secret in the %s, once for concurrent requests',
    async (place) => {
      const pair = `Basic ${Buffer.from('gateway:s3cret').toString('base64')}`;
      const server = await start(({ form, authorization }) =>
        place === 'header' ? authorization === pair : form.get('client_secret') === 's3cret',
      );
      const auth = {
        type: 'client_credentials',
        token_url: server.url,
        client_id: 'gateway',
        client_secret: secret('s3cret'),
        scope: 'system/*.rs',
        send_secret_in: place,
      } as const;
      const connector = await server.open(auth);
      await Promise.all([connector.findPatient?.(anyPatient), connector.findPatient?.(anyPatient)]);
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]?.form.get('scope')).toBe('system/*.rs');
    },
  );

  test('works at a server that does not URL-decode the client id and secret', async () => {
    const [id, text] = ['0b13d785-b961-4715-9f3b-5d1a6a1f4c02', 'a_secret.of-words'];
    const pair = `Basic ${Buffer.from(`${id}:${text}`).toString('base64')}`;
    const server = await start(({ authorization }) => authorization === pair);
    const auth = {
      type: 'client_credentials',
      token_url: server.url,
      client_id: id,
      client_secret: secret(text),
    } as const;
    const connector = await server.open(auth);
    expect(await connector.findPatient?.(anyPatient)).toMatchObject({ id: 'p-1' });
  });

  test('works at a server whose response has an ID token too', async () => {
    const server = await start(() => true, { more: { id_token: 'e30.e30.e30' } });
    const auth = { type: 'client_credentials', token_url: server.url, client_id: 'gateway' } as const;
    const connector = await server.open({ ...auth, client_secret: secret('s3cret') });
    expect(await connector.findPatient?.(anyPatient)).toMatchObject({ id: 'p-1' });
  });

  test.each([
    ['header', 'body'],
    ['body', 'header'],
  ] as const)(
    'with a secret in the %s at a server that accepts it only in the %s: the probe recommends that',
    async (send_secret_in, taken) => {
      const server = await start(({ authorization }) => (authorization === undefined) === (taken === 'body'));
      const auth = { type: 'client_credentials', token_url: server.url, client_id: 'gateway' } as const;
      const report = await server.probe({ ...auth, client_secret: secret('s3cret'), send_secret_in });
      expect(report?.recommendedSettings).toEqual({ auth: { send_secret_in: taken } });
      expect(report?.findings).toContainEqual(expect.objectContaining({ name: 'sign-in', status: 'problem' }));
      expect(report?.findings).toContainEqual(expect.objectContaining({ name: 'care unit north', status: 'ok' }));
    },
  );

  test('with an incorrect secret: the probe reports a problem and recommends nothing', async () => {
    const server = await start(() => false);
    const auth = { type: 'client_credentials', token_url: server.url, client_id: 'gateway' } as const;
    const report = await server.probe({ ...auth, client_secret: secret('s3cret') });
    expect(report).toMatchObject({ findings: [{ name: 'sign-in', status: 'problem' }], recommendedSettings: {} });
    expect(JSON.stringify(report)).not.toContain('s3cret');
  });

  test.each([400, 401])(
    'with an incorrect secret and the response %i: the error does not contain the secret',
    async (rejection) => {
      const server = await start(() => false, { rejection });
      const auth = {
        type: 'client_credentials',
        token_url: server.url,
        client_id: 'gateway',
        client_secret: secret('s3cret'),
      } as const;
      const error = await server.open(auth).catch((it: unknown) => it);
      expect(error).toMatchObject({ kind: 'rejected', message: expect.stringContaining(String(rejection)) });
      expect(String(error)).not.toContain('s3cret');
    },
  );

  test.each([
    ['RS384', 'pem'],
    ['ES384', 'pem'],
    ['RS384', 'jwk'],
    ['ES384', 'jwk'],
  ] as const)('sends an assertion signed with %s and a key as %s, each only once', async (algorithm, form) => {
    const pair =
      algorithm === 'RS384'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const spki = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const publicKey = await importSPKI(spki, algorithm);
    const seen = new Set<string | undefined>();
    const server = await start(async ({ form: sent }) => {
      const { payload, protectedHeader } = await jwtVerify(sent.get('client_assertion') ?? '', publicKey, {
        audience: server.url,
        issuer: 'gateway',
        subject: 'gateway',
        algorithms: [algorithm],
        maxTokenAge: '5m',
      });
      const isFresh = !seen.has(payload.jti);
      seen.add(payload.jti);
      return isFresh && protectedHeader.kid === 'key-1';
    });
    const text =
      form === 'pem'
        ? pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
        : JSON.stringify(await exportJWK(pair.privateKey));
    const connector = await server.open({
      type: 'smart_backend_services',
      token_url: server.url,
      client_id: 'gateway',
      private_key: secret(text),
      algorithm,
      key_id: 'key-1',
      scope: 'system/*.rs',
    });
    server.valid.token = 41;
    expect(await connector.findPatient?.(anyPatient)).toMatchObject({ id: 'p-1' });
    expect(seen.size).toBe(2);
  });

  test('with an invalid key: the error does not contain the key', async () => {
    const server = await start(() => true);
    const auth = {
      type: 'smart_backend_services',
      client_id: 'gateway',
      private_key: secret('n0key'),
      key_id: 'k',
    } as const;
    const error = await server.open(auth).catch((it: unknown) => it);
    expect(error).toMatchObject({ kind: 'rejected' });
    expect(String(error)).not.toContain('n0key');
  });
});

describe('a token', () => {
  const auth = (url: string) =>
    ({ type: 'client_credentials', token_url: url, client_id: 'gateway', client_secret: secret('s3cret') }) as const;

  test('is renewed shortly before it expires, and not earlier', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await start(() => true, { expiresIn: 3_600 });
    const connector = await server.open(auth(server.url));
    await connector.findPatient?.(anyPatient);
    vi.setSystemTime(Date.now() + 1_800_000);
    await connector.findPatient?.(anyPatient);
    expect(server.requests).toHaveLength(1);
    vi.setSystemTime(Date.now() + 1_799_000);
    await Promise.all(Array.from({ length: 5 }, () => connector.findPatient?.(anyPatient)));
    expect(server.requests).toHaveLength(2);
  });

  test('that was revoked is renewed once for concurrent requests', async () => {
    const server = await start(() => true);
    const connector = await server.open(auth(server.url));
    server.valid.token = 41;
    await Promise.all(Array.from({ length: 5 }, () => connector.findPatient?.(anyPatient)));
    expect(server.requests).toHaveLength(2);
  });

  test('is requested from the token endpoint of the SMART configuration', async () => {
    const tokens = await start(() => true);
    const found = await listen(async (request, response, body) => {
      if (request.url === '/.well-known/smart-configuration') {
        send(response, 200, { token_endpoint: tokens.url }, { 'content-type': 'application/json' });
        return;
      }
      const forwarded = await fetch(`${tokens.fhir.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization: request.headers.authorization ?? '', 'if-match': request.headers['if-match'] ?? '' },
        ...(body === '' ? {} : { body }),
      });
      send(response, forwarded.status, (await forwarded.json()) as object);
    });
    onTestFinished(() => found.close());
    const { token_url: _, ...rest } = auth('');
    const connector = await openConnector(settingsFor(found.url, { auth: rest }), plainHttp());
    expect(await connector.findPatient?.(anyPatient)).toMatchObject({ id: 'p-1' });
  });
});
