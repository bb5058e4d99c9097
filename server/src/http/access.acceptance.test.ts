/** @module-tag any-database */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { accessCases, pathOf } from '../../../test/cases/access-cases.ts';
import { startGateway, type TestClient } from '../../../test/gateway/gateway.ts';
import { openapi } from '../../../test/gateway/openapi.ts';
import { typesOf } from '../clients/smart-operations.ts';
import { smartScopes } from '../clients/smart-scopes.ts';
import { hashSecret } from '../config/configuration.ts';

/** The paths that anybody may read. */
const publicPaths = [
  '/',
  '/.well-known/oauth-authorization-server',
  '/api/openapi.json',
  '/api/openapi.yaml',
  '/api/fhir-r4/$bulk-publish',
  '/api/fhir-r4/bulk-publish/:name',
  '/demo/messages',
  '/docs',
  '/docs/',
  '/docs/js/scalar.js',
  '/docs/reference.json',
  '/health/live',
  '/health/ready',
  '/metrics',
  '/assets/:name',
  '/problems',
  '/problems/',
  '/problems/:reason',
];

/** Clients sign what they send there. */
const tokenEndpoint = 'POST /api/oauth/token';

type Route = Pick<RouteOptions, 'method' | 'url' | 'config'>;

/** Every route of the gateway, however it was added. */
const routes: Route[] = [];
const collectRoutes = (message: unknown) => {
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => void routes.push(route));
};
subscribe('fastify.initialization', collectRoutes);
const gateway = await startGateway();
unsubscribe('fastify.initialization', collectRoutes);
afterAll(() => gateway.close());

const isMethodNotAllowed = ({ config }: Route) => config !== undefined && 'hidden' in config;

const isOfFhir = ({ config }: Route) => config?.endpoint?.representation !== undefined;

/** The routes that are neither public nor covered by the access tests of an operation. */
function uncovered(all: readonly Route[]): string[] {
  const isCovered = ({ method, url, config }: Route) => {
    const operation = gateway.app.endpointDeps.endpoints.find(
      ({ operationId }) => operationId === config?.endpoint?.operationId,
    );
    if (operation === undefined || operation !== config?.endpoint || url !== pathOf(operation)) return false;
    return method === operation.method || (method === 'HEAD' && operation.method === 'GET');
  };
  const isPublic = ({ method, url }: Route) => (method === 'GET' || method === 'HEAD') && publicPaths.includes(url);
  return all
    .filter((it) => !isPublic(it) && !isCovered(it))
    .map(({ method, url }) => `${method} ${url}`)
    .filter((route) => route !== tokenEndpoint);
}

describe('every route', () => {
  test('is public, or an operation with the access tests below', () => {
    expect(uncovered(routes.filter((route) => !isMethodNotAllowed(route) && !isOfFhir(route)))).toEqual([]);
    expect(publicPaths.filter((path) => !routes.some(({ url }) => url === path))).toEqual([]);
  });

  test('that the access tests do not know is reported', () => {
    const operation = gateway.app.endpointDeps.endpoints.find(({ operationId }) => operationId === 'list_emrs');
    if (!operation) throw new Error('No operation list_emrs');
    const unknown: Route[] = [
      { method: 'GET', url: '/api/patients' },
      { method: 'POST', url: '/metrics' },
      { method: 'GET', url: '/api/clients', config: { endpoint: operation } },
      { method: 'DELETE', url: '/api/emrs', config: { endpoint: operation } },
      { method: 'GET', url: '/api/emrs', config: { endpoint: { ...operation, scopes: [] } } },
    ];
    expect(
      uncovered([...routes.filter((route) => !isMethodNotAllowed(route) && !isOfFhir(route)), ...unknown]),
    ).toEqual(unknown.map(({ method, url }) => `${method} ${url}`));
  });

  test('responds with 405 to any other method', async () => {
    const others = routes.filter(isMethodNotAllowed);
    for (const { url, method } of others) {
      const [other = ''] = [method].flat();
      const response = await gateway.request(other, url.replaceAll(':', ''), { client: null });
      expect(response, url).toMatchObject({ status: 405 });
      expect(response.text, url).toContain('method_not_allowed');
    }
    expect(new Set(others.map(({ url }) => url))).toEqual(new Set(routes.map(({ url }) => url)));
  });
});

describe('every route of the FHIR face', () => {
  const faces = routes.filter((route) => isOfFhir(route) && !route.config?.endpoint?.representation?.isPublic);

  test('needs credentials, a grant and a scope, as the native operations do', async () => {
    expect(faces.length).toBeGreaterThan(15);
    for (const { method, url, config } of faces) {
      const send = (path: string, client: TestClient | null) =>
        gateway.request(String([method].flat()[0]), path.replaceAll(/:\w+/g, 'a'), { client });
      const inLund = url.replace(':emr', 'sandbox-se').replace(':care_unit_id', 'lund');
      expect((await send(inLund, null)).status, url).toBe(401);
      // The base URL over all care units shows those that are granted.
      if (config?.endpoint?.level === 'care_unit') expect((await send(inLund, 'narrowed')).status, url).toBe(404);
      const { scopes = [], operationId } = config?.endpoint ?? {};
      // Each of its entries needs a scope.
      if (operationId === 'fhir_batch') continue;
      expect(scopes.length, url).toBeGreaterThan(0);
      const another = scopes.includes('webhooks:manage') ? 'appointments:read' : 'webhooks:manage';
      expect((await send(inLund, another)).status, url).toBe(403);
    }
  });
});

describe('the interface', () => {
  test.each([
    ['GET', '/patients/{patient_id}'],
    ['GET', '/patients/{patient_id}/medical-notes'],
    ['POST', '/patients/{patient_id}/medical-notes'],
    ['GET', '/resources/{resource_id}'],
    ['GET', '/resources/{resource_id}/schedules'],
    ['POST', '/resources/{resource_id}/schedules'],
    ['GET', '/timeslots'],
    ['GET', '/appointments'],
    ['POST', '/appointments'],
    ['PATCH', '/appointments/{appointment_id}'],
    ['PATCH', '/appointments'],
  ])('has the operation %s /api/emrs/{emr}/care-units/{care_unit_id}%s', (method, path) => {
    const url = `/api/emrs/:emr/care-units/:care_unit_id${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
    const operations = routes.filter((route) => route.method === method && route.url === url);
    expect(operations.map(({ config }) => config?.endpoint)).toEqual([expect.any(Object)]);
  });

  test('has no path outside /api and no version in a path', () => {
    const urls = routes.filter(({ config }) => config?.endpoint).map(({ url }) => url);
    for (const url of urls) expect(url).toMatch(/^\/api\/(?!.*\bv?\d)/);
  });
});

for (const operation of gateway.app.endpointDeps.endpoints) accessCases(gateway, operation);

test('the OpenAPI description contains exactly the operations of the table', () => {
  const documented = Object.values(openapi.paths).flatMap((path) =>
    Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
  );
  expect(documented.toSorted()).toEqual(
    [...gateway.app.endpointDeps.endpoints.map(({ operationId }) => operationId), 'create_access_token'].toSorted(),
  );
});

test('every operation with a scope that system scopes stand for has its types', () => {
  const standing = new Set(smartScopes.map(({ scope }) => scope));
  const operations = routes.flatMap(({ config }) => config?.endpoint ?? []);
  const untyped = operations.filter(
    ({ operationId, scopes }) => scopes.some((it) => standing.has(it)) && typesOf(operationId).length === 0,
  );
  expect(new Set(untyped.map(({ operationId }) => operationId))).toEqual(new Set());
});

test('the guide lists what the system scopes stand for', () => {
  const guide = readFileSync(new URL('../../../docs/guide/clients.md', import.meta.url), 'utf8');
  const rows = [...guide.matchAll(/^\| `system\/(\w+)\.(\w+)` \| (.*) \|$/gm)];
  expect(rows.map(([, resource, letters, scope]) => ({ resource, letters, scope }))).toEqual(
    smartScopes.map(({ resource, letters, scope }) => ({ resource, letters, scope: `\`${scope}\`` })),
  );
});

test('the guide lists every operation with its scopes', () => {
  const guide = readFileSync(new URL('../../../docs/guide/README.md', import.meta.url), 'utf8');
  const inCode = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
  const rows = [...guide.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| (.*) \| (.*) ?\|$/gm)];
  const listed = rows.flatMap(([, method, paths = '', scopes = '']) =>
    inCode(paths).map((path) => {
      const whole = path.startsWith('/api') ? path : `/api/emrs/{emr}/care-units/{care_unit_id}${path}`;
      return `${method} ${whole} ${inCode(scopes).sort()}`;
    }),
  );
  const declared = gateway.app.endpointDeps.endpoints.map(
    (it) => `${it.method} ${pathOf(it).replaceAll(/:([a-z_]+)/g, '{$1}')} ${it.scopes.toSorted()}`,
  );
  expect(listed.sort()).toEqual(declared.sort());
});

test('accepts both secrets of a client during a rotation', async () => {
  const second = 'the-other-secret-of-a-client-that-rotates';
  const rotating = await startGateway({
    configure: (configuration) => ({
      ...configuration,
      clients: configuration.clients.map((client) =>
        client.id === 'everything'
          ? { ...client, secrets: [...client.secrets, { sha256: hashSecret(second) }] }
          : client,
      ),
    }),
  });
  onTestFinished(() => rotating.close());
  const { id, secret } = rotating.credentials('everything');
  for (const it of [secret, second]) {
    expect((await rotating.request('GET', '/api/emrs', { client: { id, secret: it } })).status).toBe(200);
  }
  expect((await rotating.request('GET', '/api/emrs', { client: { id, secret: `${second}x` } })).status).toBe(401);
});

test('public paths need no credentials', async () => {
  for (const path of ['/api/openapi.json', '/api/openapi.yaml', '/health/live', '/health/ready', '/metrics']) {
    const response = await gateway.request('GET', path, { client: null });
    expect(response.status, path).toBe(200);
  }
});
