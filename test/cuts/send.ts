import { request as send } from 'undici';
import { type Form, readPage } from './forms.ts';
import type { Response } from './response.ts';
import { consoleUrl, type World } from './world.ts';

/** Where callers send requests to, and after which time they hang up. */
type Gateways = Pick<World, 'gateway' | 'patienceMilliseconds'>;

/** A request to the API. */
export interface Request {
  readonly method: 'POST' | 'PATCH' | 'DELETE' | 'GET';
  readonly path: string;
  readonly body?: object;
}

type Headers = Readonly<Record<string, string>>;

/** `not sent`: there is no gateway. `lost`: there is no response. */
type Failed = 'not sent' | 'lost';

export async function sendRequest(
  gateways: Gateways,
  { method, path, body }: Request,
  headers: Headers,
): Promise<Response | Failed> {
  const sent = await exchange(gateways, method, path, {
    isOfClient: true,
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body && JSON.stringify(body),
  });
  if (typeof sent === 'string') return sent;
  const { status, retryAfterSeconds, text } = sent;
  return { status, retryAfterSeconds, body: text === '' ? {} : JSON.parse(text) };
}

export async function sendForm(gateways: Gateways, form: Form, headers: Headers): Promise<Response | Failed> {
  const sent = await exchange(gateways, 'POST', form.path, {
    headers: { ...browserHeaders(form.session), 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ ...form.fields }).toString(),
  });
  return typeof sent === 'string' ? sent : readPage(form, { ...sent, html: sent.text });
}

/** The HTML of a page. `undefined`: none for now. */
export async function openPage(gateways: Gateways, path: string, session: string): Promise<string | undefined> {
  const sent = await exchange(gateways, 'GET', path, { headers: browserHeaders(session), body: undefined });
  return typeof sent === 'object' && sent.status === 200 ? sent.text : undefined;
}

function browserHeaders(session: string | undefined): Headers {
  if (session === undefined) return {};
  const { host, origin } = new URL(consoleUrl);
  return { host, origin, cookie: `__Host-crossward-console=${session}` };
}

async function exchange(
  gateways: Gateways,
  method: Request['method'],
  path: string,
  {
    headers,
    body,
    isOfClient = false,
  }: { readonly headers: Headers; readonly body: string | undefined; readonly isOfClient?: boolean },
) {
  const gateway = gateways.gateway();
  if (!gateway) return 'not sent';
  try {
    const response = await send(gateway.address + path, {
      method,
      headers: { ...(isOfClient ? gateway.credentials : {}), ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(gateways.patienceMilliseconds),
    });
    return {
      status: response.statusCode,
      retryAfterSeconds: Number(response.headers['retry-after'] ?? 0),
      location: response.headers.location?.toString(),
      text: await response.body.text(),
    };
  } catch (error) {
    return (error as { code?: string }).code === 'ECONNREFUSED' ? 'not sent' : 'lost';
  }
}
