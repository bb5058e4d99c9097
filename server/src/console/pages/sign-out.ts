import { inTransactionOrUnknown } from '../../db/in-transaction-or-unknown.ts';
import { recordActivity } from '../activity.ts';
import { setCookie } from '../cookies.ts';
import { type ConsoleResponse, type SignedIn, seeOther } from '../page.ts';
import type { Route } from '../route.ts';
import { endSession } from '../sessions.ts';

export const routes: readonly Route[] = [{ method: 'POST', path: 'sign-out', role: 'view', page: signOut }];

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
