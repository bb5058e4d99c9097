import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { inTransactionOrUnknown } from '../../db/transactions.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { recordActivity } from '../audit/activity.ts';
import { plainPage } from '../frame/frame.ts';
import {
  type ConsoleResponse,
  credentialServices,
  linkTo,
  type PageContext,
  type Route,
  type SignedIn,
  seeOther,
} from '../frame/page.ts';
import { mistakeSummary, notice } from '../frame/parts.ts';
import { cookieOf, setCookie } from './cookies.ts';
import { knownBrowser, knownFor, rememberBrowser } from './known-browsers.ts';
import { endSession, formToken, type Session } from './sessions.ts';
import { type FailedSignIn, signIn } from './sign-in.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'sign-in', role: 'public', page: signInPage },
  { method: 'POST', path: 'sign-in', role: 'public', page: sendSignIn },
  { method: 'POST', path: 'sign-out', role: 'view', page: signOut },
  {
    method: 'POST',
    path: 'sign-in/demo',
    role: 'public',
    isOfDemo: true,
    async page(context) {
      const { demoOperator } = context.deps.settings;
      // As with the form: it is counted, shown as activity, and needs the code if the account has one.
      const { name = '', password } = demoOperator ?? {};
      return signInWith(context, { name, password: password?.reveal() ?? '', code: '' });
    },
  },
];

interface FormShown {
  /** The id of the field with the mistake. */
  readonly field?: string;
  readonly problem?: string;
  readonly name?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const results: Readonly<Record<string, readonly ['good' | 'bad', string]>> = {
  expired: ['bad', 'Your session had ended, so nothing was changed. Sign in and repeat what you did.'],
  everywhere: ['good', 'You are signed out everywhere.'],
};

/** The form to sign in. */
export async function signInPage(context: PageContext, shown: FormShown = {}): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { settings } = deps;
  const cookie = cookieOf(context, 'sign-in') ?? randomBytes(32).toString('base64url');
  const next = readNext(request.query.get('next') ?? request.form.get('next'));
  const token = html`<input type="hidden" name="form_token" value="${formToken(cookie)}">
<input type="hidden" name="next" value="${next}">`;
  const result = shown.problem === undefined ? results[request.query.get('result') ?? ''] : undefined;
  const response = plainPage(context, {
    title: shown.problem === undefined ? 'Sign in' : 'Error: Sign in',
    status: shown.status ?? 200,
    ...(shown.headers && { headers: shown.headers }),
    content: html`${shown.problem !== undefined && (shown.field === undefined ? notice('bad', shown.problem) : mistakeSummary('You are not signed in.', [[shown.field, shown.problem]]))}${
      result && notice(...result)
    }<h1>Sign in</h1>
${settings.demoOperator && demoForm(context)}
${settings.demoOperator && html`<p class="or">or with an account</p>`}
${settings.local_accounts && (await localForm(context, token, shown))}
${settings.local_accounts && settings.oidc && html`<p class="or">or</p>`}
${settings.oidc && oidcLink(context, settings.oidc.issuer, next)}`,
  });
  return {
    ...response,
    cookies: [setCookie(context, 'sign-in', cookie)],
  };
}

/** The start page of the demo has it, too. */
function demoForm(context: PageContext): Html {
  return html`<form method="post" action="${linkTo(context, 'sign-in/demo')}"><button>Open the console as demo</button></form>`;
}

function oidcLink(context: PageContext, issuer: string, next: string): Html {
  const isSecond = context.deps.settings.local_accounts;
  const query = next === '' ? '' : `?${new URLSearchParams({ next })}`;
  return html`<p class="wide"><a class="button${isSecond && ' secondary'}" href="${linkTo(context, 'sign-in/oidc')}${query}">Sign in with ${
    new URL(issuer).hostname
  }</a></p>`;
}

async function localForm(context: PageContext, token: HtmlContent, { name }: FormShown) {
  const { demoOperator } = context.deps.settings;
  const asksForCode = !demoOperator || (await hasCodes(context));
  return html`<form method="post" action="${linkTo(context, 'sign-in')}" class="fields">${token}
<label for="name">Name</label>
<input id="name" name="name" value="${name ?? ''}" autocomplete="username" autocapitalize="off" spellcheck="false" maxlength="63" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="200" required>
${
  asksForCode &&
  html`<label for="code">One-time code</label>
<p class="hint" id="code-hint">${
    demoOperator ? 'Leave it empty if your account has none.' : 'The six digits that your authenticator app shows.'
  }</p>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="10" aria-describedby="code-hint"${
    demoOperator ? '' : html` required`
  }>`
}
<button>Sign in</button>
</form>`;
}

async function hasCodes({ deps }: PageContext): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (SELECT FROM operators WHERE sealed_totp_secret IS NOT NULL) AS found`.execute(deps.services.db);
  return rows[0]?.found ?? false;
}

/** Signs in with an account of the gateway. */
async function sendSignIn(context: PageContext): Promise<ConsoleResponse> {
  const { deps, request } = context;
  if (!deps.settings.local_accounts) return signInPage(context, { problem: 'Accounts are turned off.', status: 403 });
  const field = (name: string) => request.form.get(name) ?? '';
  const name = field('name').trim().toLowerCase();
  if (name === '' || field('password') === '') {
    return signInPage(context, {
      problem: 'Enter your name and your password.',
      field: name === '' ? 'name' : 'password',
      name,
      status: 400,
    });
  }
  return signInWith(context, { name, password: field('password'), code: field('code') });
}

/** Signs in, or shows the form again. */
async function signInWith(
  context: PageContext,
  credentials: { readonly name: string; readonly password: string; readonly code: string },
): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { keys } = deps.services;
  const { name } = credentials;
  const result = await signIn(credentialServices(deps), {
    ...credentials,
    address: request.address,
    network: request.network,
    browser: knownBrowser(keys, cookieOf(context, 'browser'), name),
  });
  if ('waitSeconds' in result) return showFailed(context, name, result);
  deps.signIns.ended('done', 'known');
  const known = rememberBrowser(keys, cookieOf(context, 'browser'), name);
  const response = await startIn(context, result, readNext(request.form.get('next')));
  return { ...response, cookies: [...(response.cookies ?? []), setCookie(context, 'browser', known, knownFor)] };
}

/** The log line and the metric say whether an account has the name. The page does not. */
function showFailed(
  context: PageContext,
  name: string,
  { isAccount, waitSeconds: seconds }: FailedSignIn,
): Promise<ConsoleResponse> {
  const { log, settings, signIns } = context.deps;
  const outcome = seconds > 0 ? 'throttled' : 'rejected';
  signIns.ended(outcome, isAccount ? 'known' : 'unknown');
  const { address } = context.request;
  log.warn({ outcome, address, is_account: isAccount, ...(isAccount && { operator: name }) }, 'sign-in failed');
  if (seconds === 0) {
    const problem = `Wrong name, password${settings.demoOperator ? '' : ' or one-time code'}. A one-time code can be used once.`;
    return signInPage(context, {
      problem: settings.demoOperator ? 'Wrong name or password.' : problem,
      field: 'password',
      name,
      status: 401,
    });
  }
  const problem = `Too many failed sign-ins. Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then try again.`;
  return signInPage(context, { problem, name, status: 429, headers: { 'retry-after': String(seconds) } });
}

/** Gives the browser its session, ends the one that it had, and shows the page that it wanted. */
export async function startIn(context: PageContext, { token }: Session, next: string): Promise<ConsoleResponse> {
  const previous = cookieOf(context, 'console');
  if (previous !== undefined) await endSession(context.deps.services.db, previous);
  return {
    ...seeOther(context, next),
    cookies: [setCookie(context, 'console', token), setCookie(context, 'sign-in', '')],
  };
}

/** A path of the console, such as `operations` or `clients/booking.app/edit`. Anything else is the overview. */
export function readNext(text: string | null): string {
  return text !== null && /^[a-z-]{1,20}(\/[A-Za-z0-9][\w.-]{0,62}(\/[a-z]{1,20})?)?$/.test(text) ? text : '';
}

/** Ends the session, in the database too: a copy of the cookie is useless afterwards. */
async function signOut(context: SignedIn): Promise<ConsoleResponse> {
  const { session, deps } = context;
  await inTransactionOrUnknown(deps.services.db, async (tx) => {
    await endSession(tx, session.token);
    await recordActivity(tx, { operator: session.name, action: 'sign_out', outcome: 'done' });
  });
  return {
    ...seeOther(context, 'sign-in'),
    cookies: [setCookie(context, 'console', '')],
  };
}

/** One click opens the console of the demo, which only this machine can reach. */
