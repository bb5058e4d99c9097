import { describe, expect, test } from 'vitest';
import { type AnyEndpoint, isRead } from '../../server/src/api/endpoint.ts';
import { type Scope, scopes } from '../../server/src/config/schema/schema.ts';
import type { Gateway, GatewayResponse, Problem, RequestOptions, TestClient } from '../gateway/gateway.ts';

/** A scope that an operation does not accept. */
const unrelatedTo = ({ scopes: accepted }: Pick<AnyEndpoint, 'scopes'>): Scope =>
  accepted.includes('webhooks:manage') ? 'schedules:write' : 'webhooks:manage';

/** The path of an operation with its parameters, as in Fastify: `/api/emrs/:emr`. */
export function pathOf({ level, path }: Pick<AnyEndpoint, 'level' | 'path'>): string {
  const prefix = { client: '/api', emr: '/api/emrs/:emr', care_unit: '/api/emrs/:emr/care-units/:care_unit_id' }[level];
  return `${prefix}${path}`;
}

/** A valid request, built from the operation's examples, with parts of the path replaced. */
export function exampleRequest(
  { examples, ...operation }: AnyEndpoint,
  replaced: Readonly<Record<string, string>> = {},
): { method: string; path: string; options: RequestOptions } {
  const params: Readonly<Record<string, unknown>> = { ...examples.params, ...replaced };
  const filled = pathOf(operation).replace(/:([a-z_]+)/g, (_, name) => encodeURIComponent(String(params[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(examples.query ?? {})) {
    for (const it of [value].flat()) query.append(name, String(it));
  }
  return {
    method: operation.method,
    path: query.size > 0 ? `${filled}?${query}` : filled,
    options: {
      headers: { 'x-patient': 'p-3' },
      ...(examples.body === undefined ? {} : { body: examples.body }),
    },
  };
}

/** Tests that apply to every operation: credentials, grants, scopes and the format of responses. */
export function accessCases(gateway: Gateway, operation: AnyEndpoint): void {
  const send = (change: RequestOptions, replaced?: Readonly<Record<string, string>>) => {
    const { method, path, options } = exampleRequest(operation, replaced);
    return gateway.request<Problem>(method, path, {
      ...options,
      ...change,
      headers: { ...options.headers, ...change.headers },
    });
  };
  const emr = String(operation.examples.params?.emr);
  const unrelatedScope = unrelatedTo(operation);

  describe(`access to ${operation.operationId}`, () => {
    test('returns the same 401 for missing, unknown and incorrect credentials', async () => {
      const { id, secret } = gateway.credentials('everything');
      const other = gateway.credentials('narrowed').secret;
      const rejected = await Promise.all([
        send({ client: null }),
        send({ client: null, headers: { 'x-service-client-id': id } }),
        send({ client: null, headers: { 'x-service-client-secret': secret } }),
        send({ client: { id, secret: other } }),
        send({ client: { id, secret: `${secret}x` } }),
        send({ client: { id, secret: '' } }),
        send({ client: { id: 'nobody', secret } }),
        send({ client: { id: id.toUpperCase(), secret } }),
        send({ client: { id: '__proto__', secret } }),
        send({ client: { id: '', secret: '' } }),
        send({
          client: null,
          headers: { 'x-service-client-id': [id, id], 'x-service-client-secret': [secret, secret] },
        }),
        send({
          client: null,
          body: 'not JSON',
          headers: { 'x-service-standard': 'none', 'content-type': 'text/plain' },
        }),
      ]);
      for (const response of rejected) {
        expect(response.status).toBe(401);
        expect(response.body.reason).toBe('credentials_invalid');
        expect(response.headers['www-authenticate']).toMatch(/^[A-Za-z]+ \S/);
      }
      expect(new Set(rejected.map(comparable)).size).toBe(1);
    });

    test('accepts only the standard native', async () => {
      for (const standard of ['fhir-r4', 'NATIVE', 'native, native', 'anything', '']) {
        const response = await send({ headers: { 'x-service-standard': standard } });
        expect(response.status).toBe(400);
        expect(response.body.reason).toBe('standard_unsupported');
        expect(response.body.errors).toMatchObject([{ header: 'x-service-standard', reason: 'standard_unsupported' }]);
      }
      const named = await send({ headers: { 'x-service-standard': 'native' } });
      expect(named.body.reason).not.toBe('standard_unsupported');
    });

    if (operation.scopes.length > 0)
      test('requires one of its scopes', async () => {
        for (const scope of scopes) {
          const { status, body } = await send({ client: scope });
          if (operation.scopes.includes(scope)) {
            expect(status, scope).not.toBe(401);
            expect(status, scope).not.toBe(403);
          } else {
            expect({ scope, status, reason: body.reason }).toEqual({ scope, status: 403, reason: 'scope_missing' });
            for (const needed of operation.scopes) expect(body.detail).toContain(needed);
          }
        }
      });

    test('requires scopes for reading if it reads, and for writing if it writes', () => {
      const verbs = isRead(operation) ? ['read', 'manage'] : ['write', 'manage'];
      for (const scope of operation.scopes) expect(verbs).toContain(scope.split(':')[1]);
      if (operation.method !== 'GET') expect(operation.scopes).not.toEqual([]);
    });

    // A stream has no HEAD.
    if (operation.method === 'GET' && !operation.response.mediaTypes)
      test('applies the same rules to HEAD as to GET', async () => {
        const { path, options } = exampleRequest(operation);
        const head = async (client: TestClient | null) =>
          (await gateway.request('HEAD', path, { ...options, client })).status;
        expect(await head(null)).toBe(401);
        expect(await head(unrelatedScope)).toBe(operation.scopes.length > 0 ? 403 : 200);
      });

    if (operation.scopes.length === 0)
      test('requires no particular scope', async () => {
        expect((await send({ client: unrelatedScope })).status).toBe(operation.response.status);
      });

    if (operation.level !== 'client')
      test('returns the same 404 for an EHR that is not granted as for an unknown one', async () => {
        const outside = 'sandbox-uk';
        const rejected = await Promise.all([
          send({ client: 'narrowed' }, { emr: outside, care_unit_id: 'riverside' }),
          send({ client: 'narrowed' }, { emr: outside, care_unit_id: 'oslo-sentrum' }),
          send({ client: 'narrowed', body: 'not JSON' }, { emr: outside, care_unit_id: 'riverside' }),
          send({ client: 'narrowed' }, { emr: 'nowhere' }),
          send({ client: 'everything' }, { emr: 'nowhere' }),
          send({ client: 'everything' }, { emr: 'SANDBOX-NO' }),
          send({ client: 'everything' }, { emr: '__proto__' }),
          send({ client: unrelatedScope }, { emr: 'nowhere' }),
        ]);
        for (const response of rejected) {
          expect(response.status).toBe(404);
          expect(response.body.reason).toBe('emr_not_found');
          expect(response.body.errors).toMatchObject([{ parameter: 'emr', reason: 'emr_not_found' }]);
        }
        expect(new Set(rejected.map(comparable)).size).toBe(1);
      });

    if (operation.level === 'care_unit')
      test('returns the same 404 for a care unit that is not granted as for an unknown one', async () => {
        const rejected = await Promise.all([
          send({ client: 'narrowed' }, { emr: 'sandbox-no', care_unit_id: 'bergen-nord' }),
          send({ client: 'narrowed' }, { emr: 'sandbox-no', care_unit_id: 'nowhere' }),
          send({ client: 'everything' }, { emr, care_unit_id: 'nowhere' }),
          send({ client: 'everything' }, { emr: 'sandbox-no', care_unit_id: 'sodermalm' }),
          send({ client: 'everything' }, { emr, care_unit_id: 'constructor' }),
          send({ client: unrelatedScope }, { emr, care_unit_id: 'nowhere' }),
        ]);
        for (const response of rejected) {
          expect(response.status).toBe(404);
          expect(response.body.reason).toBe('care_unit_not_found');
          expect(response.body.errors).toMatchObject([{ parameter: 'care_unit_id', reason: 'care_unit_not_found' }]);
        }
        expect(new Set(rejected.map(comparable)).size).toBe(1);
      });
  });
}

/** The parts of a response that a caller can compare, without those that differ for every request. */
function comparable({ status, headers, text }: GatewayResponse): string {
  const requestId = String(headers['x-request-id']);
  const varying = ['date', 'x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
  const kept = Object.entries(headers).filter(([name]) => !varying.includes(name));
  return JSON.stringify([status, kept, text.replaceAll(requestId, '')]);
}
