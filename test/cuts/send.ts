import { request as send } from 'undici';
import type { ChildGateway } from '../processes/child-gateway.ts';
import { type Form, readPage } from './forms.ts';
import type { Response } from './response.ts';
import { consoleUrl } from './world.ts';

/** A caller hangs up after this time. */
const patienceMilliseconds = 8_000;

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
  gateway: ChildGateway | undefined,
  { method, path, body }: Request,
  headers: Headers,
): Promise<Response | Failed> {
  const sent = await exchange(gateway, method, path, {
    headers: { ...gateway?.credentials, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body && JSON.stringify(body),
  });
  if (typeof sent === 'string') return sent;
  const { status, retryAfterSeconds, text } = sent;
  return { status, retryAfterSeconds, body: text === '' ? {} : JSON.parse(text) };
}

export async function sendForm(
  gateway: ChildGateway | undefined,
  form: Form,
  headers: Headers,
): Promise<Response | Failed> {
  const sent = await exchange(gateway, 'POST', form.path, {
    headers: { ...browserHeaders(form.session), 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ ...form.fields }).toString(),
  });
  return typeof sent === 'string' ? sent : readPage(form, { ...sent, html: sent.text });
}

/** The HTML of a page. `undefined`: none for now. */
export async function openPage(
  gateway: ChildGateway | undefined,
  path: string,
  session: string,
): Promise<string | undefined> {
  const sent = await exchange(gateway, 'GET', path, { headers: browserHeaders(session), body: undefined });
  return typeof sent === 'object' && sent.status === 200 ? sent.text : undefined;
}

function browserHeaders(session: string | undefined): Headers {
  if (session === undefined) return {};
  const { host, origin } = new URL(consoleUrl);
  return { host, origin, cookie: `__Host-crossward-console=${session}` };
}

async function exchange(
  gateway: ChildGateway | undefined,
  method: Request['method'],
  path: string,
  { headers, body }: { readonly headers: Headers; readonly body: string | undefined },
) {
  if (!gateway) return 'not sent';
  try {
    const response = await send(gateway.address + path, {
      method,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(patienceMilliseconds),
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
