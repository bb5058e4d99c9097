import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isProblem } from '@crossward/client';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { decodeJwt } from 'jose';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { listenError } from '../startup/listen-error.ts';
import { createDesk, type Desk, type GatewayAccess } from './desk.ts';
import { keysFrom } from './references.ts';
import { createAssistantServer } from './server.ts';

/** As the paths of the gateway, so that a proxy can put both under one name. */
const path = /^\/api\/emrs\/([^/]+)(?:\/care-units\/([^/]+))?\/mcp$/;
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
  const guarded = {
    async fetch(request: Request) {
      try {
        await admit(request, settings);
      } catch (error) {
        if (error instanceof NotServed) return refusalTo(error);
        throw error;
      }
      return handler.fetch(request);
    },
  };
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

/**
 * Lets the gateway check the credentials, so that nobody else reaches the tools.
 *
 * @throws NotServed
 */
async function admit(request: Request, settings: HttpSettings): Promise<void> {
  const origin = request.headers.get('origin');
  if (origin !== null && !settings.allowedOrigins.includes(origin))
    throw new NotServed(403, 'this origin is not allowed');
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

function refusalTo({ status, message }: NotServed): Response {
  // RFC 9110, section 15.5.2: a 401 names how to authenticate.
  const headers = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
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
