import { AuthorizationResponseError } from 'openid-client';
import { describeError } from '../../log/describe-error.ts';
import { recordActivity } from '../audit/activity.ts';
import type { ConsoleResponse, PageContext, Route } from '../frame/page.ts';
import { cookieOf, setCookie } from './cookies.ts';
import { beginOidc, finishOidc, type OidcState } from './oidc.ts';
import { startSession } from './sessions.ts';
import { readNext, signInPage, startIn } from './sign-in-page.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'sign-in/oidc', role: 'public', page: startOidc },
  { method: 'GET', path: 'sign-in/oidc/callback', role: 'public', page: endOidc },
];

/** Milliseconds for the sign-in at the provider. */
const lifetimeMs = 15 * 60_000;
/** What the encrypted cookie is bound to. */
const sealContext = 'console sign-in with OpenID Connect';

interface Stored extends OidcState {
  readonly next: string;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
}

/** Leads to the provider. */
async function startOidc(context: PageContext): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { oidc } = deps.settings;
  if (!oidc) return notConfigured(context);
  try {
    const { url, state } = await beginOidc(oidc, redirectUri(context));
    const stored: Stored = { ...state, next: readNext(request.query.get('next')), begunAt: Date.now() };
    const sealed = deps.services.keys.seal('operator', JSON.stringify(stored), sealContext).toString('base64url');
    return { status: 303, location: url, cookies: [setCookie(context, 'oidc', sealed)] };
  } catch (error) {
    return failed(context, error, 'The provider cannot be reached. Try again in a minute.');
  }
}

/** Receives the operator from the provider. */
async function endOidc(context: PageContext): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { oidc, session_hours } = deps.settings;
  if (!oidc) return notConfigured(context);
  const stored = readStored(context);
  if (!stored) {
    const problem = 'This sign-in is out of date, or was started in another browser. Sign in again.';
    return signInPage(context, { problem, status: 400 });
  }
  const callback = new URL(`${redirectUri(context)}?${request.query}`);
  const found = await finishOidc(oidc, callback, stored).catch((error: unknown) => {
    return error instanceof AuthorizationResponseError
      ? failed(context, error, 'The provider rejected the sign-in.', 403)
      : failed(context, error, 'The provider could not confirm the sign-in. Sign in again.');
  });
  if ('status' in found) return found;
  const { name, subjectHash, role } = found;
  if (!role) {
    const { address } = request;
    deps.log.warn({ outcome: 'rejected', address }, 'sign-in failed');
    deps.signIns.ended('rejected', 'known');
    await recordActivity(deps.services.db, { operator: name, action: 'sign_in', target: address, outcome: 'rejected' });
    const problem = `The provider knows you as ${name}, but gives you no role in this console.`;
    return signInPage(context, { problem, status: 403 });
  }
  const session = await deps.services.db.transaction().execute(async (tx) => {
    await recordActivity(tx, { operator: name, action: 'sign_in', target: request.address, outcome: 'done' });
    return startSession(tx, deps.services.keys, { operatorId: null, subjectHash, name, role, hours: session_hours });
  });
  const response = await startIn(context, session, stored.next);
  return { ...response, cookies: [...(response.cookies ?? []), setCookie(context, 'oidc', '')] };
}

function redirectUri({ request }: PageContext): string {
  return `${request.url.href.replace(/\/+$/, '')}/console/sign-in/oidc/callback`;
}

function readStored(context: PageContext): Stored | undefined {
  const sealed = Buffer.from(cookieOf(context, 'oidc') ?? '', 'base64url');
  const text = context.deps.services.keys.open('operator', sealed, sealContext);
  const stored: Stored | undefined = text && JSON.parse(text);
  return stored && Date.now() - stored.begunAt < lifetimeMs ? stored : undefined;
}

function notConfigured(context: PageContext): Promise<ConsoleResponse> {
  return signInPage(context, { problem: 'Sign-in with OpenID Connect is not configured.', status: 404 });
}

function failed(context: PageContext, error: unknown, problem: string, status = 502): Promise<ConsoleResponse> {
  context.deps.log.warn({ cause: describeError(error) }, 'sign-in with OpenID Connect failed');
  return signInPage(context, { problem, status });
}
