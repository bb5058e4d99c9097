import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { AnyOperation } from '../api/route.ts';
import type { Client, ClientRegistry } from '../clients/client-registry.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { type Reject, rejections } from './rejected-credentials.ts';

interface Dependencies {
  readonly clients: ClientRegistry;
  readonly ehrs: EhrRegistry;
  readonly metrics: Registry;
  /** Wrong credentials allowed before further ones are throttled. */
  readonly failedCredentials: number;
}

/**
 * Authenticates the caller and checks its grants before the body is read. An EHR or care unit that is not granted gets
 * the same response as one that does not exist.
 */
export function addAccess(app: FastifyInstance, { clients, ehrs, metrics, failedCredentials }: Dependencies): void {
  const reject = rejections({ clients, metrics, failedCredentials });
  app.addHook('onRequest', (request, _reply, done) => {
    const { operation } = request.routeOptions.config;
    if (!operation) return done();
    const client = authenticate(request, clients, reject);
    request.access = { client };
    assertStandard(request);
    request.access = { client, ...grantedTarget(request, operation, client, ehrs) };
    if (operation.scopes.length > 0 && !operation.scopes.some((scope) => client.scopes.has(scope))) {
      throw new Problem('scope_missing', { detail: `The client lacks the scope ${operation.scopes.join(' or ')}.` });
    }
    done();
  });
}

/** Checks the credentials before the throttle, so that other callers' failures never lock out a client. */
function authenticate(request: FastifyRequest, clients: ClientRegistry, reject: Reject): Client {
  const id = request.headers['x-service-client-id'];
  const secret = request.headers['x-service-client-secret'];
  const client = typeof id === 'string' && typeof secret === 'string' ? clients.authenticate(id, secret) : undefined;
  if (!client) throw reject(request, id, secret);
  return client;
}

function assertStandard(request: FastifyRequest): void {
  const standard = request.headers['x-service-standard'];
  if (standard === undefined || standard === 'native') return;
  throw problemAt(
    { in: 'header', header: 'x-service-standard' },
    'standard_unsupported',
    'The only standard is `native`.',
  );
}

function grantedTarget(request: FastifyRequest, operation: AnyOperation, client: Client, ehrs: EhrRegistry) {
  if (operation.level === 'client') return {};
  const params = request.params as { emr: string; care_unit_id?: string };
  const granted = client.grants.get(params.emr);
  const ehr = granted && ehrs.get(params.emr);
  if (!ehr)
    throw problemAt(
      { in: 'path', parameter: 'emr' },
      'emr_not_found',
      'The EHR does not exist, or the client has no grant for it.',
    );
  if (params.care_unit_id === undefined) return { ehr };
  const careUnit = granted.has(params.care_unit_id) ? ehr.careUnits.get(params.care_unit_id) : undefined;
  if (!careUnit) {
    throw problemAt(
      { in: 'path', parameter: 'care_unit_id' },
      'care_unit_not_found',
      'The care unit does not exist, or the client has no grant for it.',
    );
  }
  return { ehr, careUnit };
}
