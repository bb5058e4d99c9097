import { randomBytes } from 'node:crypto';
import { html } from '../../html/html.ts';
import { plainPage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type PageContext, type Route } from '../frame/page.ts';
import { notice } from '../frame/parts.ts';
import { cookieOf, setCookie } from './cookies.ts';
import { formToken } from './sessions.ts';
import { signInByLink } from './sign-in-links.ts';
import { startIn } from './sign-in-page.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'sign-in/link/:token', role: 'public', page: linkPage },
  { method: 'POST', path: 'sign-in/link', role: 'public', page: sendLink },
];

/** Asks before it uses the link, because programs that look at links must not use it up. */
async function linkPage(context: PageContext): Promise<ConsoleResponse> {
  const cookie = cookieOf(context, 'sign-in') ?? randomBytes(32).toString('base64url');
  const response = plainPage(context, {
    title: 'Sign in by link',
    content: html`<h1>Sign in by link</h1>
<p>The link of the command line works once, for five minutes.</p>
<form method="post" action="${linkTo(context, 'sign-in/link')}" class="fields">
<input type="hidden" name="form_token" value="${formToken(cookie)}">
<input type="hidden" name="token" value="${context.request.params.token ?? ''}">
<button>Sign in</button>
</form>`,
  });
  return { ...response, cookies: [setCookie(context, 'sign-in', cookie)] };
}

async function sendLink(context: PageContext): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { services, settings, signIns, log } = deps;
  const { address } = request;
  const token = request.form.get('token') ?? '';
  const session = settings.local_accounts
    ? await signInByLink(services, token, { address, hours: settings.session_hours })
    : undefined;
  if (session) {
    signIns.ended('done', 'known');
    return startIn(context, session, '');
  }
  signIns.ended('rejected', 'unknown');
  log.warn({ outcome: 'rejected', address, is_account: false }, 'sign-in failed');
  return plainPage(context, {
    title: 'The link does not work',
    status: 401,
    content: html`${notice('bad', 'You are not signed in: the link has expired or was used, or accounts are turned off.')}
<h1>The link does not work</h1>
<p><code>crossward operators sign-in-link</code> prints a new one.</p>
<p><a href="${linkTo(context, 'sign-in')}">Sign in in another way</a></p>`,
  });
}
