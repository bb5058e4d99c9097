import { html } from '../../html/html.ts';
import { textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import {
  type ConsoleResponse,
  credentialServices,
  linkTo,
  type Route,
  type SignedIn,
  seeOther,
} from '../frame/page.ts';
import { enrolment, mistakeSummary } from '../frame/parts.ts';
import { setCookie } from '../sign-in/cookies.ts';
import { oidcPrefix } from '../sign-in/oidc.ts';
import { passwordMistake } from '../sign-in/password.ts';
import { endSessionsOf } from './open-sessions.ts';
import { beginNewCodes, changePassword, finishNewCodes, type NewCodes, signOutEverywhere } from './own-account.ts';
import { findOwnAccount, type OwnAccountProblem, ownAccountPage, problemOf } from './own-account-page.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'your-account/codes', role: 'view', page: beginOwnCodes },
  { method: 'POST', path: 'your-account/new-codes', role: 'view', page: finishOwnCodes },
  { method: 'POST', path: 'your-account/password', role: 'view', page: changeOwnPassword },
  { method: 'POST', path: 'your-account/sign-out', role: 'view', page: endOwnSessions },
  { method: 'POST', path: 'end-sessions', role: 'admin', page: endOthersSessions },
];

/** Shows new one-time codes to the operator, who confirms them with one of them. */
async function beginOwnCodes(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request, session } = context;
  if (!(await findOwnAccount(context))) return seeOther(context, 'your-account');
  const result = await beginNewCodes(credentialServices(deps), session, {
    password: request.form.get('codes_password') ?? '',
  });
  if (result !== 'rejected' && 'uri' in result) return codesPage(context, result);
  return ownAccountPage(context, { ...problemOf(result, 'The password is wrong.'), field: 'codes_password' });
}

/** Replaces the operator's one-time codes with those that were shown. */
async function finishOwnCodes(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request, session } = context;
  const [sealed = '', code = ''] = ['codes', 'code'].map((name) => request.form.get(name) ?? '');
  const result = await finishNewCodes(credentialServices(deps), session, { sealed, code });
  if (result === 'expired') {
    return ownAccountPage(context, { text: 'These codes are out of date. Set up new codes again.', status: 409 });
  }
  if ('uri' in result) {
    return codesPage(
      context,
      result,
      'This code is wrong. Scan again if need be, and see whether the clock of the phone is right.',
    );
  }
  return { ...seeOther(context, 'your-account?result=codes'), cookies: [setCookie(context, 'console', result.token)] };
}

/** The secret is in no other response, and in no URL. */
function codesPage(context: SignedIn, { uri, sealed }: NewCodes, problem?: string): ConsoleResponse {
  return consolePage(context, {
    title: problem === undefined ? 'New one-time codes' : 'Error: New one-time codes',
    section: 'your-account',
    status: problem === undefined ? 200 : 400,
    content: html`${problem !== undefined && mistakeSummary('Nothing was changed.', [['code', problem]])}<h1>New one-time codes</h1>
<p>Scan this with your authenticator app, or enter its <code>secret</code> by hand. It is not shown again.</p>
${enrolment(uri)}
<p>Then enter a code that the app shows for it. Your current codes work until then. Your other sessions end.</p>
${postForm(
  context,
  'your-account/new-codes',
  html`<input type="hidden" name="codes" value="${sealed}">
<div class="fields">${textField({ name: 'code', label: 'New one-time code', autocomplete: 'one-time-code', maxLength: 10, problem })}</div>
<div class="actions"><button>Use the new codes</button>
<a class="button secondary" href="${linkTo(context, 'your-account')}">Cancel</a></div>`,
)}`,
  });
}

/** Changes the operator's own password. */
async function changeOwnPassword(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request, session } = context;
  const account = await findOwnAccount(context);
  // The form is offered for accounts with codes only.
  if (!account?.hasTotp) return seeOther(context, 'your-account');
  const mistake = mistakeIn(request.form);
  if (mistake) return ownAccountPage(context, mistake);
  const field = (name: string) => request.form.get(name) ?? '';
  const result = await changePassword(credentialServices(deps), session, {
    password: field('password'),
    code: field('code'),
    newPassword: field('new_password'),
  });
  if (result === 'rejected' || 'waitSeconds' in result) {
    const rejected = 'The current password or the one-time code is wrong. A one-time code can be used once.';
    return ownAccountPage(context, problemOf(result, rejected));
  }
  return {
    ...seeOther(context, 'your-account?result=password'),
    cookies: [setCookie(context, 'console', result.token)],
  };
}

function mistakeIn(form: URLSearchParams): OwnAccountProblem | undefined {
  const [password, next, repeated] = ['password', 'new_password', 'repeated_password'].map((it) => form.get(it) ?? '');
  const mistake = passwordMistake(next ?? '');
  if (mistake !== undefined) return { field: 'new_password', text: mistake };
  if (next === password) return { field: 'new_password', text: 'Choose another password than the current one.' };
  if (next !== repeated) return { field: 'repeated_password', text: 'The two new passwords differ.' };
  return undefined;
}

/** Signs the operator out in all browsers. */
async function endOwnSessions(context: SignedIn): Promise<ConsoleResponse> {
  await signOutEverywhere(context.deps.services.db, context.session);
  return { ...seeOther(context, 'sign-in?result=everywhere'), cookies: [setCookie(context, 'console', '')] };
}

/** Ends the sessions of another operator. A name of a provider can have any character, so it is a field of the form. */
async function endOthersSessions(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request, session } = context;
  const name = request.form.get('name') ?? '';
  if (name === session.name) return seeOther(context, 'your-account');
  const ended = await endSessionsOf(deps.services.db, { name, by: session });
  if (ended === undefined) return seeOther(context, 'accounts?result=unknown');
  return seeOther(context, `accounts${name.startsWith(oidcPrefix) ? '' : `/${name}`}?result=sessions`);
}
