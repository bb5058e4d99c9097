import { setCookie } from '../cookies.ts';
import { changePassword } from '../own-account.ts';
import { type ConsoleResponse, credentialServices, type SignedIn, seeOther } from '../page.ts';
import { passwordMistake } from '../password.ts';
import type { Route } from '../route.ts';
import { findOwnAccount, type OwnAccountProblem, ownAccountPage, problemOf } from './own-account.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'your-account/password', role: 'view', page: changeOwnPassword },
];

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
