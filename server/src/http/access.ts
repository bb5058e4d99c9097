import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AnyEndpoint, Standard } from '../api/endpoint.ts';
import { type AccessToken, type AccessTokens, narrowed } from '../clients/access-tokens.ts';
import { type Client, type ClientRegistry, ofType, type Permissions } from '../clients/client-registry.ts';
import { typesOf } from '../clients/smart-operations.ts';
import type { Scope } from '../config/schema/schema.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { Rejections } from './limits/rejected-credentials.ts';

interface Dependencies {
  readonly clients: ClientRegistry;
  readonly tokens: AccessTokens;
  readonly ehrs: EhrRegistry;
  readonly rejections: Rejections;
}

/**
 * Authenticates the caller and checks its grants before the body is read. An EHR or care unit that is not granted gets
 * the same response as one that does not exist.
 */
export function addAccess(app: FastifyInstance, { clients, tokens, ehrs, rejections }: Dependencies): void {
  const authenticate = authentication({ clients, tokens, rejections });
  app.addHook('onRequest', (request, _reply, done) => {
    const { endpoint } = request.routeOptions.config;
    if (!endpoint || (endpoint.representation?.isPublic && !hasCredentials(request))) return done();
    const admit = (client: Client) => {
      request.access = { client };
      assertStandard(request, endpoint);
      request.access = { client, ...grantedTarget(request, endpoint, client, ehrs) };
      if (!mayCall(client, endpoint)) throw scopeMissing(request, endpoint.scopes);
    };
    const client = authenticate(request);
    // Usually at once, because each promise costs time.
    if (client instanceof Promise) return void client.then(admit).then(() => done(), done);
    admit(client);
    done();
  });
}

type Authenticate = (request: FastifyRequest) => Client | Promise<Client>;

/** Checks the credentials before the throttle, so that other callers' failures never lock out a client. */
function authentication({ clients, tokens, rejections }: Omit<Dependencies, 'ehrs'>): Authenticate {
  const rejected = async (problem: Promise<Problem>): Promise<never> => {
    throw await problem;
  };
  function ofToken(request: FastifyRequest, token: AccessToken | 'invalid' | 'expired'): Client | Promise<never> {
    if (typeof token === 'string') return rejected(rejections.ofToken(request, token));
    const client = clients.find(token.clientId);
    return client?.keys ? narrowed(token, client) : rejected(rejections.ofToken(request, 'ended'));
  }
  return (request) => {
    const { authorization, 'x-service-client-id': id, 'x-service-client-secret': secret } = request.headers;
    const bearer = bearerOf(authorization);
    if (bearer !== undefined) {
      if (id !== undefined || secret !== undefined) throw twoCredentials();
      const token = tokens.read(bearer);
      return token instanceof Promise ? token.then((it) => ofToken(request, it)) : ofToken(request, token);
    }
    const client = typeof id === 'string' && typeof secret === 'string' ? clients.authenticate(id, secret) : undefined;
    return client ?? rejected(rejections.ofHeaders(request, id, secret));
  };
}

/** The token of an `authorization` header (RFC 6750, section 2.1). Other schemes are those of proxies, and mean nothing here. */
function bearerOf(header: string | undefined): string | undefined {
  const found = /^bearer(?:$| +(\S.*|)$)/i.exec(header ?? '');
  return found ? (found[1] ?? '') : undefined;
}

function twoCredentials(): Problem {
  return problemAt(
    { in: 'header', header: 'authorization' },
    'request_invalid',
    'Send either an access token or the headers x-service-client-id and x-service-client-secret, not both.',
  );
}

interface Callable {
  readonly operationId: string;
  /** One of these is needed. Empty: none. */
  readonly scopes: readonly Scope[];
}

/**
 * Whether a client may call an operation: with one of its scopes, or with system scopes of all that it is about.
 *
 * @internal for the test
 */
export function mayCall({ scopes, ofTypes }: Permissions, operation: Callable): boolean {
  if (operation.scopes.length === 0 || operation.scopes.some((it) => scopes.has(it))) return true;
  if (!ofTypes || ofTypes.size === 0) return false;
  const has = (type: string) => operation.scopes.some((it) => ofTypes.has(ofType(type, it)));
  return typesOf(operation.operationId).some((types) => types.every(has));
}

function scopeMissing({ headers }: FastifyRequest, needed: readonly string[]): Problem {
  return new Problem('scope_missing', {
    detail: `The client lacks the scope ${needed.join(' or ')}.`,
    ...(bearerOf(headers.authorization) !== undefined && {
      detail: `The access token lacks the scope ${needed.join(' or ')}.`,
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${needed.join(' ')}"` },
    }),
  });
}

function hasCredentials({ headers }: FastifyRequest): boolean {
  if (bearerOf(headers.authorization) !== undefined) return true;
  return headers['x-service-client-id'] !== undefined || headers['x-service-client-secret'] !== undefined;
}

/** The path alone says which standard is spoken. The header may repeat it. */
function assertStandard({ headers }: FastifyRequest, { representation }: AnyEndpoint): void {
  const standard = headers['x-service-standard'];
  const spoken: Standard = representation?.standard ?? 'native';
  if (standard === undefined || standard === spoken) return;
  const detail = `The only standard is \`${spoken}\`.`;
  throw problemAt({ in: 'header', header: 'x-service-standard' }, 'standard_unsupported', detail);
}

function grantedTarget(request: FastifyRequest, endpoint: AnyEndpoint, client: Client, ehrs: EhrRegistry) {
  if (endpoint.level === 'client') return {};
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
