import { html } from '../../html/html.ts';
import { setCookie } from '../cookies.ts';
import { enrolment } from '../enrolment.ts';
import { textField } from '../fields.ts';
import { consolePage, postForm } from '../frame.ts';
import { beginNewCodes, finishNewCodes, type NewCodes } from '../own-account.ts';
import { type ConsoleResponse, credentialServices, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { findOwnAccount, ownAccountPage, problemOf } from './own-account.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'your-account/codes', role: 'view', page: beginOwnCodes },
  { method: 'POST', path: 'your-account/new-codes', role: 'view', page: finishOwnCodes },
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
