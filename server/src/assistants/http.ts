import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isProblem } from '@crossward/client';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { decodeJwt } from 'jose';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';
import { serverMetadataPath } from '../oauth/server-metadata.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { listenError } from '../startup/listen-error.ts';
import { createDesk, type Desk, type GatewayAccess } from './desk.ts';
import { keysFrom } from './references.ts';
import { createAssistantServer } from './server.ts';
import { assistantScopes } from './settings.ts';

/** As the paths of the gateway, so that a proxy can put both under one name. */
const path = /^\/api\/emrs\/([^/]+)(?:\/care-units\/([^/]+))?\/mcp$/;
/** RFC 9728, section 3.1: before the path of the resource. */
const metadataPath = '/.well-known/oauth-protected-resource';
const longestBody = 64 * 1024;

/** What serves hosts over Streamable HTTP. */
export interface HttpSettings {
  /** Base URL of the gateway. */
  readonly baseUrl: string;
  /** Seals the references of clients with access tokens. `undefined`: they are not served. */
  readonly keys: KeyRing | undefined;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** URL under which hosts reach it, without `/api`. Default: the address on which it listens. */
  readonly publicUrl?: string | undefined;
  /** Origins of web pages that may call it. Programs that are no browsers send none. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  readonly log: Logger;
}

/** Why a request gets no answer of the protocol. */
class NotServed extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves hosts over Streamable HTTP. Each request carries the credentials of its client and names the patient; nothing is kept
 * between requests.
 *
 * @returns what stops it after the current requests
 * @throws {ConfigurationError} if it cannot listen
 */
export async function serveHttp(settings: HttpSettings): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { host, port, version, log } = settings;
  const warn = (error: Error) => log.warn({ error: describeError(error) }, 'request failed');
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      if (!requestInfo) throw new TypeError('there is no request');
      return createAssistantServer(deskFor(requestInfo, settings), version, log);
    },
    { onerror: warn, maxRequestBodySize: longestBody },
  );
  const address = () => settings.publicUrl ?? `http://${host}:${(server.address() as AddressInfo).port}`;
  const serve = async (request: Request) => {
    const origin = request.headers.get('origin');
    const { pathname } = new URL(request.url);
    try {
      if (origin !== null && !settings.allowedOrigins.includes(origin))
        throw new NotServed(403, 'this origin is not allowed');
      if (origin !== null && request.method === 'OPTIONS')
        return new Response(null, { status: 204, headers: preflight });
      if (pathname.startsWith(`${metadataPath}/`)) {
        return Response.json(await metadataOf(pathname.slice(metadataPath.length), address(), settings));
      }
      await admit(request, settings);
    } catch (error) {
      if (error instanceof NotServed)
        return refusalTo(error, settings.keys && `${address()}${metadataPath}${pathname}`);
      throw error;
    }
    return handler.fetch(request);
  };
  const guarded = { fetch: async (request: Request) => readable(await serve(request), request, settings) };
  const answer = toNodeHandler(guarded, { onerror: warn, maxRequestBodySize: longestBody });
  const server = createServer((request, response) => {
    request.headers.accept = acceptOf(request.headers.accept);
    void answer(request as NodeIncomingMessageLike, response);
  });
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error, { host, port }, '--port');
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await handler.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Both media types of the protocol if the host takes any (RFC 9110, section 12.5.1): the SDK looks for their names. */
function acceptOf(accept = '*/*'): string {
  return /(^|[\s,])\*\/\*/.test(accept) ? `${accept}, application/json, text/event-stream` : accept;
}

/** What a page of another origin may send: https://fetch.spec.whatwg.org/#http-cors-protocol. */
const preflight = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, x-patient, x-service-client-id, x-service-client-secret',
};

/** Lets a page of an allowed origin read the response. */
function readable(response: Response, { headers }: Request, { allowedOrigins }: HttpSettings): Response {
  const origin = headers.get('origin');
  if (allowedOrigins.length === 0) return response;
  const more = new Headers(response.headers);
  more.append('vary', 'origin');
  if (origin !== null && allowedOrigins.includes(origin)) {
    more.set('access-control-allow-origin', origin);
    more.set('access-control-expose-headers', 'www-authenticate, mcp-session-id, mcp-protocol-version');
  }
  return new Response(response.body, { status: response.status, headers: more });
}

/**
 * Where hosts get access tokens for a path (RFC 9728, section 2). The same for all EHRs and care units, so that it does not tell
 * which exist.
 *
 * @throws NotServed
 */
async function metadataOf(resource: string, address: string, { baseUrl, keys }: HttpSettings): Promise<object> {
  // Without keys, no access tokens are accepted.
  if (!path.test(resource) || !keys) throw new NotServed(404, 'no such path');
  return {
    resource: `${address}${resource}`,
    authorization_servers: [await issuerOf(baseUrl)],
    scopes_supported: assistantScopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Crossward for assistants',
  };
}

/** The address that the gateway's access tokens name: it may be another one than that at which this program reaches it. */
async function issuerOf(baseUrl: string): Promise<string> {
  try {
    const response = await fetch(`${baseUrl}${serverMetadataPath}`, { signal: AbortSignal.timeout(10_000) });
    const { issuer } = (await response.json()) as { readonly issuer?: unknown };
    if (response.ok && typeof issuer === 'string') return issuer;
  } catch {
    // It is away, or no gateway.
  }
  throw new NotServed(503, 'the gateway does not respond');
}

/**
 * Lets the gateway check the credentials, so that nobody else reaches the tools.
 *
 * @throws NotServed
 */
async function admit(request: Request, settings: HttpSettings): Promise<void> {
  const { client, assignment } = deskFor(request, settings);
  try {
    const { emr, careUnitId } = assignment;
    const options = { timeoutMs: 10_000 };
    await (careUnitId === undefined ? client.emrs.get(emr, options) : client.careUnits(emr).get(careUnitId, options));
  } catch (error) {
    if (isProblem(error) && [401, 404, 429].includes(error.problem.status)) {
      throw new NotServed(error.problem.status, error.problem.title);
    }
    throw new NotServed(503, 'the gateway does not respond');
  }
}

/** @param metadataUrl `undefined`: access tokens are not accepted */
function refusalTo({ status, message }: NotServed, metadataUrl: string | undefined): Response {
  // RFC 9110, section 15.5.2: a 401 names how to authenticate. RFC 9728, section 5.1: and where to get a token.
  const challenge = metadataUrl === undefined ? 'Bearer' : `Bearer resource_metadata="${metadataUrl}"`;
  const headers = status === 401 ? { 'www-authenticate': challenge } : {};
  return Response.json({ error: message }, { status, headers });
}

/** @throws NotServed if the path or a header is missing or wrong */
function deskFor({ url, headers }: Request, settings: HttpSettings): Desk {
  const [, emr, careUnitId] = path.exec(new URL(url).pathname) ?? [];
  if (emr === undefined) throw new NotServed(404, 'no such path');
  const { clientId, access, keys } = credentialsIn(headers, settings);
  try {
    const assignment = {
      clientId,
      emr: decodeURIComponent(emr),
      careUnitId: careUnitId && decodeURIComponent(careUnitId),
      // A header has one character for each byte.
      patient: Buffer.from(required(headers, 'x-patient', 400), 'latin1').toString('utf8'),
    };
    return createDesk(assignment, { ...access, baseUrl: settings.baseUrl }, keys);
  } catch (error) {
    if (error instanceof NotServed) throw error;
    throw new NotServed(400, 'the path or the credentials are malformed');
  }
}

interface FoundCredentials {
  readonly clientId: string;
  readonly access: Omit<GatewayAccess, 'baseUrl'>;
  readonly keys: KeyRing;
}

/**
 * An access token is for the interface of the gateway, of which these paths are a part, and goes nowhere else.
 *
 * @throws NotServed
 */
function credentialsIn(headers: Headers, { keys }: HttpSettings): FoundCredentials {
  const [, accessToken] = /^bearer +([\w.~+/-]+=*)$/i.exec(headers.get('authorization') ?? '') ?? [];
  if (accessToken === undefined) {
    const clientId = required(headers, 'x-service-client-id', 401);
    const clientSecret = required(headers, 'x-service-client-secret', 401);
    return { clientId, access: { clientSecret }, keys: keysFrom(clientId, clientSecret) };
  }
  if (!keys) throw new NotServed(401, 'access tokens are not accepted: CROSSWARD_SECRET_KEY is not set');
  return { clientId: clientOf(accessToken), access: { accessToken }, keys };
}

/** The client that the token names. Only the gateway can tell whether that is true: `admit` asks it. */
function clientOf(accessToken: string): string {
  try {
    const { sub } = decodeJwt(accessToken);
    if (sub !== undefined) return sub;
  } catch {
    // It is no JWT.
  }
  throw new NotServed(401, 'the access token is malformed');
}

/** @throws NotServed */
function required(headers: Headers, name: string, status: number): string {
  const value = headers.get(name)?.trim();
  if (!value) throw new NotServed(status, `the header ${name} is missing`);
  return value;
}
