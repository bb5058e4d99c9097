import type { Route } from '../route.ts';
import { routes as accountActions } from './account-actions.ts';
import { routes as accounts } from './accounts.ts';
import { routes as activity } from './activity.ts';
import { routes as audit } from './audit.ts';
import { routes as client } from './client.ts';
import { routes as clients } from './clients.ts';
import { routes as connection } from './connection.ts';
import { routes as connections } from './connections.ts';
import { routes as demoSignIn } from './demo-sign-in.ts';
import { routes as drop } from './drop.ts';
import { routes as editClient } from './edit-client.ts';
import { routes as endSessions } from './end-sessions.ts';
import { routes as history } from './history.ts';
import { routes as messages } from './messages.ts';
import { routes as newClient } from './new-client.ts';
import { routes as oidc } from './oidc.ts';
import { routes as operation } from './operation.ts';
import { routes as operations } from './operations.ts';
import { routes as overview } from './overview.ts';
import { routes as ownAccount } from './own-account.ts';
import { routes as ownCodes } from './own-codes.ts';
import { routes as ownPassword } from './own-password.ts';
import { routes as pause } from './pause.ts';
import { routes as revokeClient } from './revoke-client.ts';
import { routes as rotateClient } from './rotate-client.ts';
import { routes as signIn } from './sign-in.ts';
import { routes as signInLink } from './sign-in-link.ts';
import { routes as signOut } from './sign-out.ts';
import { routes as webhook } from './webhook.ts';
import { routes as webhookActions } from './webhook-actions.ts';
import { routes as webhookChange } from './webhook-change.ts';
import { routes as webhookCreate } from './webhook-create.ts';
import { routes as webhookReplay } from './webhook-replay.ts';
import { routes as webhookSecret } from './webhook-secret.ts';
import { routes as webhooks } from './webhooks.ts';

/** The pages of the console and their forms. */
export const routes: readonly Route[] = [
  ...signIn,
  ...signInLink,
  ...demoSignIn,
  ...oidc,
  ...signOut,
  ...ownAccount,
  ...ownPassword,
  ...ownCodes,
  ...endSessions,
  ...overview,
  ...history,
  ...operations,
  ...operation,
  ...drop,
  ...messages,
  ...connections,
  ...connection,
  ...pause,
  ...webhooks,
  ...webhookCreate,
  ...webhook,
  ...webhookActions,
  ...webhookReplay,
  ...webhookChange,
  ...webhookSecret,
  ...accounts,
  ...accountActions,
  ...clients,
  ...client,
  ...newClient,
  ...editClient,
  ...rotateClient,
  ...revokeClient,
  ...audit,
  ...activity,
];
