/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bundle, CapabilityStatement, Practitioner } from '@medplum/fhirtypes';
import { exportJWK, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCrosswardClient } from '../../../client/src/index.ts';
import { type Gateway, type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { eventually, rowsOf } from '../../../test/requests/codes.ts';
import {
  apiUrl,
  newKey,
  requestToken,
  signAssertion,
  tokenUrl,
  withKeyClient,
  withToken,
} from '../../../test/requests/tokens.ts';
import type { Scope } from '../config/schema/schema.ts';
import { createClient, revokeAsOperator, rotateClient, updateAsOperator } from '../console/clients/client-actions.ts';
import { createDb } from '../db/kysely.ts';
import { bookingOf, fhirClient, issueIn } from '../fhir-face/test-requests.ts';

const key = await newKey('2026-a');
const rsa = await newKey('rsa', 'RS384');
const edwards = await newKey('ed', 'EdDSA');
const other = await newKey('2026-a');

/** Where clients publish keys. */
let behave: (response: ServerResponse) => void = (response) => void response.end();
let readings = 0;
const publisher = createServer((_request, response) => {
  readings++;
  behave(response);
});
await new Promise<void>((resolve) => publisher.listen(0, '127.0.0.1', resolve));
const jwksUri = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/jwks.json`;
const publish = (keys: readonly object[], headers: Record<string, string> = {}) => {
  behave = (response) => void response.writeHead(200, headers).end(JSON.stringify({ keys }));
};

const configure = (it: Parameters<typeof withKeyClient>[0]) => ({
  ...withKeyClient(
    withKeyClient(it, 'ward-app', { jwks: { keys: [key, rsa, edwards].map(({ publicKey }) => publicKey) } }),
    'publishing-app',
    { jwks_uri: jwksUri },
  ),
  webhooks: { ...it.webhooks, allow_http: true, allow_private_addresses: true },
});
const first = await startGateway({ configure });
const second = await startGateway({ configure, beside: first });
afterAll(async () => {
  await second.close();
  await first.close();
  publisher.closeAllConnections();
  publisher.close();
});

const administration = (gateway: Gateway) => ({
  db: createDb(gateway.database),
  keys: gateway.deps.services.keys,
  configured: { emrs: [], clients: [] },
});

async function storedClient(id: string, scopes: Scope[] = ['appointments:read']): Promise<void> {
  const emrs = [{ id: 'sandbox-no', name: 'No', care_units: [{ id: 'oslo-sentrum', name: 'Oslo' }] }];
  const facts = { id, scopes, grants: [{ emr: 'sandbox-no' }], jwks: { keys: [key.publicKey] } };
  const result = await createClient({ ...administration(first), configured: { emrs, clients: [] } }, facts);
  expect(result).toEqual({ secret: undefined });
  for (const gateway of [first, second]) await gateway.deps.clients.refresh();
}

async function tokenOf(id: string, gateway = first): Promise<string> {
  const { status, body, text } = await requestToken(gateway, await signAssertion(id, key));
  expect(text).toContain('access_token');
  expect(status).toBe(200);
  return body.access_token;
}

/** https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html */
interface Configuration extends Omit<oauth.AuthorizationServer, 'issuer'> {
  capabilities: string[];
  scopes_supported: string[];
}
const smartConfiguration = (careUnit: string) => `${careUnit}/fhir-r4/.well-known/smart-configuration`;

const list = (gateway: Gateway, token: string) => gateway.request<Problem>('GET', '/api/emrs', withToken(token));

test('an independent client finds the endpoint, and books natively and in FHIR with a token of five minutes', async () => {
  const configuration = await first.request<Configuration>('GET', smartConfiguration(oslo), { client: null });
  const server: oauth.AuthorizationServer = { ...configuration.body, issuer: apiUrl };
  const signer = oauth.PrivateKeyJwt(
    { key: key.privateKey, kid: key.publicKey.kid },
    {
      [oauth.modifyAssertion]: (_header, payload) => {
        payload.aud = tokenUrl;
      },
    },
  );
  const client = { client_id: 'ward-app' };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    signer,
    { scope: 'system/Appointment.rscud system/Appointment.cruds system/Slot.rs system/Observation.rs' },
    {
      // The proxy with the public address.
      [oauth.customFetch]: (_url, init) =>
        fetch(`http://127.0.0.1:${first.port}/api/oauth/token`, init as unknown as RequestInit),
    },
  );
  const token = await oauth.processClientCredentialsResponse(server, client, response);
  expect(token).toMatchObject({ token_type: 'bearer', expires_in: 300 });
  expect(token.scope).toBe('system/Appointment.crus system/Slot.rs');
  const slot = await freeSlot(first);
  const booking = { ...withToken(token.access_token), body: creationBody(slot) };
  for (const gateway of [second, first]) {
    const booked = await gateway.request('POST', `${oslo}/appointments`, {
      ...booking,
      headers: { ...booking.headers, 'idempotency-key': `token ${slot.start}` },
    });
    expect(booked.status).toBe(201);
  }
  const [fhirSlot] = await fhirClient(first, oslo).slots(1);
  const { headers } = withToken(token.access_token);
  const inFhir = await fhirClient(first, oslo).send('POST', '/Appointment', bookingOf(fhirSlot), {
    client: null,
    headers,
  });
  expect(inFhir).toMatchObject({ status: 201, body: { status: 'booked' } });
  const denied = await first.request<Problem>('GET', `${oslo}/patients/p-1`, withToken(token.access_token));
  expect(denied).toMatchObject({ status: 403, body: { reason: 'scope_missing' } });
  expect(denied.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="patients:read"');
});

test('the SMART configuration is the same for every path, and the CapabilityStatement leads to it', async () => {
  const paths = [oslo, sodermalm, '/api/emrs/nobody/care-units/nowhere'].map(smartConfiguration);
  const accept = { accept: 'application/fhir+xml' };
  const read = (path: string) => first.request<Configuration>('GET', path, { client: null, headers: accept });
  const responses = await Promise.all(paths.map(read));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  const { body, headers } = await read(smartConfiguration(oslo));
  expect(headers['content-type']).toMatch(/^application\/json(;|$)/);
  expect(body).toMatchObject({
    token_endpoint: tokenUrl,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
  });
  expect(body.capabilities).toEqual(['client-confidential-asymmetric', 'permission-v1', 'permission-v2']);
  // Each scope that it names is granted as it is named.
  const scope = body.scopes_supported.join(' ');
  const granted = await requestToken(first, await signAssertion('ward-app', key), { scope });
  expect(granted.body.scope).toBe(scope);
  const metadata = await first.request<CapabilityStatement>('GET', `${oslo}/fhir-r4/metadata`, { client: null });
  const services = metadata.body.rest?.[0]?.security?.service?.[0]?.coding?.map(({ code }) => code);
  expect(services).toEqual(['OAuth', 'SMART-on-FHIR']);
});

test('a system scope reads its resource type, and nothing else', async () => {
  const face = fhirClient(first, oslo);
  const [slot] = await face.slots(1);
  const paths = {
    Appointment: ['/fhir-r4/Appointment?patient=p-1', '/appointments?patient_id=p-1'],
    Slot: [
      '/fhir-r4/Slot?_count=1',
      `/fhir-r4/Slot/${slot?.id}`,
      `/timeslots?start=2030-03-15T00:00:00&end=2030-03-16T00:00:00`,
    ],
    Schedule: ['/fhir-r4/Schedule', '/resources/r-1/schedules'],
    Practitioner: ['/fhir-r4/Practitioner', '/fhir-r4/Practitioner/r-1'],
    PractitionerRole: ['/fhir-r4/PractitionerRole', '/fhir-r4/PractitionerRole/r-1'],
    Organization: ['/fhir-r4/Organization'],
    Location: ['/fhir-r4/Location'],
    Device: ['/fhir-r4/Device'],
    HealthcareService: ['/fhir-r4/HealthcareService', '/healthcare-services'],
    Patient: ['/fhir-r4/Patient?_id=p-1', '/patients/p-1'],
  };
  const ofAll = [...Object.values(paths).flat(), '/resources', '/resources/r-1', '/patients/p-1/medical-notes'];
  for (const [type, own] of Object.entries(paths)) {
    const granted = await requestToken(first, await signAssertion('ward-app', key), { scope: `system/${type}.rs` });
    expect(granted.body.scope).toBe(`system/${type}.rs`);
    const send = (path: string) => first.request('GET', `${oslo}${path}`, withToken(granted.body.access_token));
    const responses = await Promise.all(ofAll.map(async (path) => [path, (await send(path)).status] as const));
    const isOwn = (path: string) => own.includes(path);
    expect(responses.filter(([path, status]) => isOwn(path) && status !== 200)).toEqual([]);
    expect(responses.filter(([path, status]) => !isOwn(path) && status !== 403)).toEqual([]);
  }
});

test('a search with a system scope includes what other system scopes show', async () => {
  const face = fhirClient(first, oslo);
  const [slot] = await face.slots(1);
  await face.post('/Appointment', bookingOf(slot, 'p-2'));
  const resourcesWith = async (scope: string, query: string) => {
    const { body } = await requestToken(first, await signAssertion('ward-app', key), { scope });
    const found = await face.get<Bundle>(query, withToken(body.access_token));
    expect([scope, found.status]).toEqual([scope, 200]);
    return found.body.entry?.map(({ resource }) => resource) ?? [];
  };
  const typesWith = async (scope: string, query: string) =>
    [...new Set((await resourcesWith(scope, query)).map((it) => it?.resourceType))].toSorted();
  const appointments = '/Appointment?patient=p-2&_include=Appointment:actor&_include=Appointment:slot';
  expect(await typesWith('system/Appointment.rs', appointments)).toEqual(['Appointment']);
  expect(await typesWith('system/Appointment.rs system/Patient.rs system/Location.rs', appointments)).toEqual([
    'Appointment',
    'Location',
    'Patient',
  ]);
  expect(await typesWith('system/Appointment.rs resources:read', appointments)).toEqual([
    ...['Appointment', 'HealthcareService', 'Location', 'Practitioner', 'Slot'],
  ]);
  const slots = '/Slot?_count=1&_include=Slot:schedule&_include:iterate=Schedule:actor';
  expect(await typesWith('system/Slot.rs', slots)).toEqual(['Slot']);
  expect(await typesWith('system/Slot.rs system/Schedule.rs', slots)).toEqual(['Schedule', 'Slot']);
  const schedules = '/Schedule?_include=Schedule:actor';
  expect(await typesWith('system/Schedule.rs', schedules)).toEqual(['Schedule']);
  expect(await typesWith('system/Schedule.rs system/Practitioner.rs', schedules)).toEqual(['Practitioner', 'Schedule']);
  const [{ name: [{ text = '' } = {}] = [] } = {}] = (await resourcesWith(
    'resources:read',
    '/Practitioner',
  )) as Practitioner[];
  const isNamed = async (scope: string) => JSON.stringify(await resourcesWith(scope, '/Schedule')).includes(text);
  expect([text !== '', await isNamed('system/Schedule.rs')]).toEqual([true, false]);
  expect(await isNamed('system/Schedule.rs system/Practitioner.rs')).toBe(true);
  const services = '/HealthcareService?_include=HealthcareService:location';
  expect(await typesWith('system/HealthcareService.rs', services)).toEqual(['HealthcareService']);
});

test('in FHIR, a token that is invalid or lacks a scope is told in an OperationOutcome', async () => {
  const granted = await requestToken(first, await signAssertion('ward-app', key), { scope: 'system/Appointment.rs' });
  const face = fhirClient(first, oslo);
  const narrow = withToken(granted.body.access_token);
  expect((await face.get('/Appointment?patient=p-1', narrow)).status).toBe(200);
  const slots = await face.slots(1);
  const { client, headers } = narrow;
  const write = await face.send('POST', '/Appointment', bookingOf(slots[0]), { client, headers });
  expect(issueIn(write)).toEqual([403, 'forbidden', 'scope_missing']);
  expect(write.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="appointments:write"');
  expect(issueIn(await face.get('/Practitioner', narrow))).toEqual([403, 'forbidden', 'scope_missing']);
  for (const path of ['/Appointment?patient=p-1', '/metadata']) {
    const invalid = await face.get(path, withToken('kanari'));
    expect(issueIn(invalid)).toEqual([401, 'login', 'credentials_invalid']);
    expect(invalid.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  }
});

test.each([rsa, edwards])('a client signs with $algorithm', async (it) => {
  const { body } = await requestToken(first, await signAssertion('ward-app', it), { scope: 'patients:read' });
  expect(body.scope).toBe('patients:read');
});

test('a revoked client gets 401 with its next request, at every gateway within 5 seconds', async () => {
  await storedClient('revoked-app');
  const token = await tokenOf('revoked-app');
  for (const gateway of [first, second]) expect((await list(gateway, token)).status).toBe(200);
  expect(await revokeAsOperator(administration(second), { id: 'revoked-app' })).toBe('done');
  for (const gateway of [first, second]) {
    await vi.waitFor(async () => expect((await list(gateway, token)).status).toBe(401), {
      timeout: 30_000,
      interval: 100,
    });
  }
  const { body, headers } = await list(first, token);
  expect(body.reason).toBe('credentials_invalid');
  expect(headers['www-authenticate']).toContain('Bearer error="invalid_token"');
});

test('a token loses the scopes that its client loses, and ends with the keys of its client', async () => {
  await storedClient('narrower-app', ['appointments:read', 'patients:read']);
  const token = await tokenOf('narrower-app');
  const read = () => first.request<Problem>('GET', `${oslo}/patients/p-1`, withToken(token));
  expect((await read()).status).toBe(200);
  await updateAsOperator(administration(first), { id: 'narrower-app' }, { scopes: ['appointments:read'] });
  await first.deps.clients.refresh();
  expect(await read()).toMatchObject({ status: 403, body: { reason: 'scope_missing' } });
  const withoutKeys = () => updateAsOperator(administration(first), { id: 'narrower-app' }, { withoutKeys: true });
  expect(await withoutKeys()).toEqual({ rejection: 'no_credentials' });
  const rotated = await rotateClient(administration(first), { id: 'narrower-app' }, 24);
  expect(await withoutKeys()).toBe('done');
  await first.deps.clients.refresh();
  expect((await read()).status).toBe(401);
  const client = { id: 'narrower-app', secret: 'secret' in rotated ? rotated.secret : '' };
  expect((await first.request('GET', '/api/emrs', { client })).status).toBe(200);
});

test('a client of OAuth finds the endpoint by the metadata of the gateway, names its issuer, and no kid', async () => {
  const issuer = new URL(apiUrl);
  const viaProxy = {
    [oauth.customFetch]: (url: string, init: object) =>
      fetch(url.replace(apiUrl, `http://127.0.0.1:${first.port}`), init as unknown as RequestInit),
  };
  const discovered = await oauth.discoveryRequest(issuer, { ...viaProxy, algorithm: 'oauth2' });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  expect(server).toMatchObject({ token_endpoint: tokenUrl, grant_types_supported: ['client_credentials'] });
  expect(server.scopes_supported).toEqual(expect.arrayContaining(['system/Appointment.crus', 'appointments:write']));
  const client = { client_id: 'ward-app' };
  const signer = oauth.PrivateKeyJwt(key.privateKey);
  const response = await oauth.clientCredentialsGrantRequest(server, client, signer, {}, viaProxy);
  const { access_token } = await oauth.processClientCredentialsResponse(server, client, response);
  expect((await list(first, access_token)).status).toBe(200);
});

test('web pages of the configured origins read where to get tokens, and nothing else', async () => {
  const page = 'https://portal.example.org';
  const startWith = async (discovery_origins: string[]) => {
    const gateway = await startGateway({
      configure: (it) => ({ ...it, http: { ...it.http, discovery_origins } }),
      beside: first,
    });
    onTestFinished(() => gateway.close());
    return async (path: string, origin = page) => {
      const { headers } = await gateway.request('GET', path, { headers: { origin } });
      return headers['access-control-allow-origin'];
    };
  };
  const some = await startWith([page]);
  const any = await startWith(['*']);
  const documents = ['/.well-known/oauth-authorization-server', smartConfiguration(oslo), `${oslo}/fhir-r4/metadata`];
  for (const path of documents) {
    expect(await some(path), path).toBe(page);
    expect(await some(path, 'https://evil.example'), path).toBeUndefined();
    expect(await any(path, 'https://evil.example'), path).toBe('*');
  }
  for (const path of ['/api/emrs', `${oslo}/fhir-r4/Slot`, '/nowhere']) expect(await any(path), path).toBeUndefined();
  const usual = await first.request('GET', '/.well-known/oauth-authorization-server', { headers: { origin: page } });
  expect(usual.headers['access-control-allow-origin']).toBeUndefined();
});

test('an assertion is used once, whichever gateway gets it', async () => {
  const [assertion, twice] = await Promise.all([signAssertion('ward-app', key), signAssertion('ward-app', key)]);
  expect((await requestToken(first, assertion)).status).toBe(200);
  for (const gateway of [second, first]) {
    expect(await requestToken(gateway, assertion)).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
  }
  const both = await Promise.all([first, second].map((gateway) => requestToken(gateway, twice)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test('each request for a token counts for the limit of its client, and one beyond it stores nothing', async () => {
  const gateway = await startGateway({
    configure: (it) => ({
      ...withKeyClient(it, 'busy-app', { jwks: { keys: [key.publicKey] } }),
      limits: { ...it.limits, requests_per_minute: 3 },
    }),
    beside: first,
  });
  onTestFinished(() => gateway.close());
  const send = async () => requestToken(gateway, await signAssertion('busy-app', key), { scope: 'launch' });
  let rejected = 0;
  let response = await send();
  for (; response.status === 400 && rejected < 20; rejected++) response = await send();
  expect(response).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  const used = await rowsOf(first, "SELECT FROM used_assertions WHERE client_id = 'busy-app'");
  expect(used).toHaveLength(rejected);
});

describe('an assertion is rejected', () => {
  const now = Math.floor(Date.now() / 1000);
  const secretOfPublicKey = Buffer.from(JSON.stringify(key.publicKey));
  const cases: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    [
      'for another audience beside this one',
      () => signAssertion('ward-app', key, { claims: { aud: [tokenUrl, apiUrl] } }),
      /aud must be/,
    ],
    ['for another audience', () => signAssertion('ward-app', key, { claims: { aud: `${apiUrl}/api` } }), /aud/],
    [
      'that lives too long',
      () => signAssertion('ward-app', key, { claims: { exp: Math.floor(Date.now() / 1000) + 400 } }),
      /exp must be at most 300 seconds/,
    ],
    ['that has expired', () => signAssertion('ward-app', key, { claims: { exp: now - 60 } }), /has expired/],
    ['without exp', () => signAssertion('ward-app', key, { claims: { exp: undefined } }), /exp/],
    ['without jti', () => signAssertion('ward-app', key, { claims: { jti: undefined } }), /jti/],
    ['with an empty jti', () => signAssertion('ward-app', key, { claims: { jti: '' } }), /jti/],
    ['that another client signed', () => signAssertion('ward-app', other), /did not sign/],
    ['of an unknown client', () => signAssertion('nobody', key), /did not sign/],
    ['of a client without keys', () => signAssertion('everything', key), /did not sign/],
    ['with an unknown kid', () => signAssertion('ward-app', key, { header: { kid: 'x' } }), /did not sign/],
    ['with an empty kid', () => signAssertion('ward-app', key, { header: { kid: '' } }), /kid/],
    ['whose sub is another', () => signAssertion('ward-app', key, { claims: { sub: 'everything' } }), /iss and sub/],
    [
      'with alg none',
      async () =>
        new UnsecuredJWT({ iss: 'ward-app', sub: 'ward-app', aud: tokenUrl, exp: now + 60, jti: '1' }).encode(),
      /must be signed with/,
    ],
    [
      'with HS256 and the public key as the secret',
      () =>
        new SignJWT({ iss: 'ward-app', sub: 'ward-app', aud: tokenUrl, exp: now + 60, jti: '2' })
          .setProtectedHeader({ alg: 'HS256', kid: key.publicKey.kid })
          .sign(secretOfPublicKey),
      /must be signed with/,
    ],
    ['with a key of another type', () => signAssertion('ward-app', key, { header: { kid: 'rsa' } }), /did not sign/],
    ['that is no JWT', async () => 'kanari', /no JWT/],
  ];
  test.each(cases)('%s', async (_name, sign, text) => {
    const { status, body } = await requestToken(first, await sign());
    expect(status).toBe(400);
    expect(body.error).toBe('invalid_client');
    expect(body.error_description).toMatch(text);
  });
});

test.each([
  ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['no grant', { grant_type: '' }, 'invalid_request'],
  ['no assertion', { client_assertion: '' }, 'invalid_request'],
  ['another type of assertion', { client_assertion_type: 'saml' }, 'invalid_request'],
  ['another client_id', { client_id: 'everything' }, 'invalid_client'],
  ['scopes that nobody can have', { scope: 'system/Observation.rs patient/Appointment.rs launch' }, 'invalid_scope'],
])('a request with %s is rejected', async (_name, more, error) => {
  const response = await requestToken(first, await signAssertion('ward-app', key), more);
  expect(response).toMatchObject({ status: 400, body: { error } });
  expect(response.headers['cache-control']).toBe('no-store');
});

test('a body that is no form, or repeats a parameter, is rejected', async () => {
  const json = await first.request<Problem>('POST', '/api/oauth/token', { client: null, body: {} });
  expect(json).toMatchObject({ status: 415, body: { reason: 'media_type_unsupported' } });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const twice = await first.request('POST', '/api/oauth/token', { client: null, headers, body: 'scope=a&scope=b' });
  expect(twice).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  const empty = await first.request('POST', '/api/oauth/token', { client: null });
  expect(empty.status).toBe(400);
});

describe('an access token', () => {
  const invalid = (token: string) => list(first, token);

  test('is rejected if it was changed, is no token, or is an assertion', async () => {
    const token = await tokenOf('ward-app');
    for (const wrong of [`${token.slice(0, -4)}AAAA`, 'kanari', '', await signAssertion('ward-app', key)]) {
      const response = await invalid(wrong);
      expect(response).toMatchObject({ status: 401, body: { reason: 'credentials_invalid' } });
      expect(response.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
    }
  });

  test('is rejected after five minutes', async () => {
    const token = await tokenOf('ward-app');
    expect((await list(first, token)).status).toBe(200);
    const later = performance.now() + 301_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    onTestFinished(() => void clock.mockRestore());
    for (const gateway of [first, second]) {
      const { status, body } = await list(gateway, token);
      expect([status, body.detail]).toEqual([401, 'The access token has expired. Get a new one.']);
    }
  });

  test('is not accepted together with a secret', async () => {
    const { headers } = withToken(await tokenOf('ward-app'));
    const response = await first.request<Problem>('GET', '/api/emrs', { headers });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ header: 'authorization' }] } });
  });

  test('names its client in the log', async () => {
    const { client, headers } = withToken(await tokenOf('ward-app'));
    const marker = randomUUID();
    await first.request('GET', '/api/emrs', { client, headers: { ...headers, 'x-request-id': marker } });
    // The lines of all requests before it have been written, too.
    await eventually(() => expect(first.logLines.some((line) => line.includes(marker))).toBe(true));
    const from = first.logLines.length;
    await list(first, await tokenOf('ward-app'));
    const lines = () => first.logLines.slice(from).filter((line) => JSON.parse(line).client === 'ward-app');
    await eventually(() => expect(lines()).toHaveLength(2));
  });
});

describe('keys at a jwks_uri', () => {
  const token = async (kid: string, signedBy = key) =>
    requestToken(first, await signAssertion('publishing-app', signedBy, { header: { kid } }));

  test('are kept, and read once more for a key that is not among them', async () => {
    const next = await newKey('2026-b');
    publish([key.publicKey, { kty: 'oct', kid: 'other', k: 'AAAA' }], { 'cache-control': 'max-age=600' });
    readings = 0;
    expect((await token('2026-a')).status).toBe(200);
    expect((await token('2026-a')).status).toBe(200);
    expect(readings).toBe(1);
    // Rotated: the gateway that has not read for a while finds the new key.
    publish([next.publicKey]);
    const later = performance.now() + 11_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    onTestFinished(() => void clock.mockRestore());
    const both = await Promise.all([token('2026-b', next), token('2026-b', next)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(readings).toBe(2);
    expect((await token('2026-a')).status).toBe(400);
    expect((await token('unknown', next)).status).toBe(400);
    expect(readings).toBe(2);
  });

  test.each([
    ['is slow', 500, (_response: ServerResponse) => undefined, /no complete response in time/],
    ['has no keys', 10_000, (response: ServerResponse) => void response.end('{"keys":[]}'), /no JWK Set/],
    ['has an error', 10_000, (response: ServerResponse) => void response.writeHead(500).end(), /the status 500/],
    ['is large', 10_000, (response: ServerResponse) => void response.end('x'.repeat(70_000)), /more than 65536 bytes/],
  ])(
    'that %s gives an error that says so in the log alone, and delays no other client',
    async (_name, timeout_ms, answer, text) => {
      const gateway = await startGateway({
        configure: (it) => ({ ...configure(it), webhooks: { ...configure(it).webhooks, timeout_ms } }),
        beside: first,
      });
      onTestFinished(() => gateway.close());
      behave = answer;
      readings = 0;
      const slow = requestToken(gateway, await signAssertion('publishing-app', key));
      await eventually(() => expect(readings).toBe(1));
      expect((await requestToken(gateway, await signAssertion('ward-app', key))).status).toBe(200);
      const { body } = await slow;
      expect(body.error).toBe('invalid_client');
      // Not even that there is such a client: that is for operators.
      expect(body.error_description).toMatch(/^The client is unknown, has no such key/);
      await eventually(() => expect(gateway.logLines.some((line) => text.test(line))).toBe(true));
      // The next request does not wait again.
      expect((await requestToken(gateway, await signAssertion('publishing-app', key))).body.error).toBe(
        'invalid_client',
      );
      expect(readings).toBe(1);
    },
  );
});

test('a gateway without a public address has its loopback address, and our client reads, books and cancels', async () => {
  const gateway = await startGateway({
    configure: (it) => {
      const { http, ...rest } = configure(it);
      const { api_url: _, ...withoutAddress } = http;
      return { ...rest, http: withoutAddress };
    },
    beside: first,
  });
  onTestFinished(() => gateway.close());
  const { key: privateKey, kid } = { key: await exportJWK(key.privateKey), kid: key.publicKey.kid };
  const client = createCrosswardClient({
    baseUrl: `http://127.0.0.1:${gateway.port}`,
    clientId: 'ward-app',
    privateKey: { key: privateKey, keyId: kid },
  });
  const { appointments } = client.careUnit('sandbox-no', 'oslo-sentrum');
  const booked = await appointments.create(creationBody(await freeSlot(gateway)));
  expect((await appointments.cancel(booked.id)).status).toBe('cancelled');
});
