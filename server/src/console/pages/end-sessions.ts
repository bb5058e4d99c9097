import { setCookie } from '../cookies.ts';
import { oidcPrefix } from '../oidc-name.ts';
import { endSessionsOf } from '../open-sessions.ts';
import { signOutEverywhere } from '../own-account.ts';
import { type ConsoleResponse, type SignedIn, seeOther } from '../page.ts';
import type { Route } from '../route.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'your-account/sign-out', role: 'view', page: endOwnSessions },
  { method: 'POST', path: 'end-sessions', role: 'admin', page: endOthersSessions },
];

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
