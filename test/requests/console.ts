import { randomUUID } from 'node:crypto';
import { type TOTP, URI } from 'otpauth';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConsole } from '../../server/src/config/console-settings.ts';
import { createOperator } from '../../server/src/console/accounts/operators.ts';
import { proveOperator } from '../../server/src/console/accounts/proofs.ts';
import type { Role } from '../../server/src/console/accounts/roles.ts';
import { startSession } from '../../server/src/console/sign-in/sessions.ts';
import type { Db } from '../../server/src/db/kysely.ts';
import type { KeyRing } from '../../server/src/secrets/key-ring.ts';
import type { Gateway, GatewayResponse } from '../gateway/gateway.ts';

export const consoleUrl = 'https://gateway.internal.example.org';

/** Turns the console on, with accounts of the gateway. */
export function withConsole(configuration: Configuration, url = consoleUrl): Configuration {
  return {
    ...configuration,
    limits: { ...configuration.limits, page_requests_per_minute: 1_000_000 },
    console: resolveConsole({ url, local_accounts: true }, {}),
  };
}

export interface TestOperator {
  readonly name: string;
  readonly password: string;
  readonly totp: TOTP;
  /** A one-time code: the current one, then the next one. Each can be used once, and further ones are too early. */
  code(): string;
}

/** Creates an account. */
export async function newOperator(gateway: Gateway, name: string, role: Role): Promise<TestOperator> {
  const { db, keys } = gateway.deps.services;
  const password = `kanari-password-${name}-5501`;
  const uri = await createOperator(db, keys, { name, role, password });
  if (uri === undefined) throw new Error(`The name ${name} is taken`);
  const totp = URI.parse(uri) as TOTP;
  let used = -1;
  return { name, password, totp, code: () => totp.generate({ timestamp: Date.now() + ++used * 30_000 }) };
}

/** A page as a browser shows it. */
export interface ConsolePage {
  readonly path: string;
  readonly status: number;
  readonly headers: GatewayResponse['headers'];
  readonly html: string;
  /** The text without tags, with single spaces. */
  readonly text: string;
}

/** A browser without JavaScript, with cookies. */
export function consoleBrowser(gateway: Pick<Gateway, 'request'>, url = consoleUrl) {
  const { origin, host } = new URL(url);
  const cookies = new Map<string, string>();
  let latest: ConsolePage | undefined;

  async function send(
    method: string,
    path: string,
    { body, headers = {} }: { body?: string; headers?: Readonly<Record<string, string | undefined>> } = {},
  ): Promise<GatewayResponse> {
    const response = await gateway.request(method, path, {
      client: null,
      ...(body !== undefined && { body }),
      headers: {
        host,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded', origin }),
        ...headers,
      },
    });
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  async function open(path: string): Promise<ConsolePage> {
    return show(path, await send('GET', path));
  }

  async function show(path: string, response: GatewayResponse): Promise<ConsolePage> {
    const { status, headers, text: html } = response;
    if (status === 303) {
      const { pathname, search } = new URL(headers.location ?? '', new URL(path, url));
      return open(pathname + search);
    }
    latest = { path, status, headers, html, text: textOf(html) };
    return latest;
  }

  /** Sends a form with the hidden fields of the page that is shown, and follows redirects. */
  async function submit(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>> = {},
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<ConsolePage> {
    const hidden = [...(latest?.html ?? '').matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
    const all = { ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])), ...fields };
    const body = new URLSearchParams(
      Object.entries(all).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value])),
    ).toString();
    return show(path, await send('POST', path, { body, headers }));
  }

  return {
    cookies,
    send,
    open,
    submit,
    async signIn({ name, password, code }: TestOperator): Promise<ConsolePage> {
      await open('/console/sign-in');
      return submit('/console/sign-in', { name, password, code: code() });
    },
  };
}

/** A browser with a session of a new account, whose password nobody knows. */
export async function browserWith(gateway: Gateway, name: string, role: Role) {
  const browser = consoleBrowser(gateway);
  browser.cookies.set('__Host-crossward-console', await sessionOf(gateway.deps.services, name, role));
  return { operator: { name }, browser };
}

/** The token of a session of a new account, whose password nobody knows. */
export async function sessionOf(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  name: string,
  role: Role,
): Promise<string> {
  const operatorId = randomUUID();
  await db.transaction().execute(async (tx) => {
    await tx.insertInto('operators').values({ id: operatorId, name, role, password_hash: 'of no password' }).execute();
    await proveOperator(tx, keys, operatorId);
  });
  return (await startSession(db, keys, { operatorId, name, role, hours: 12 })).token;
}

export type ConsoleBrowser = ReturnType<typeof consoleBrowser>;

function textOf(html: string): string {
  return html
    .replace(/<head>.*?<\/head>/s, ' ')
    .replace(/<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
