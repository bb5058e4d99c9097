import { routes as accountActions } from '../accounts/account-actions.ts';
import { routes as accounts } from '../accounts/accounts-page.ts';
import { routes as ownAccountForms } from '../accounts/own-account-forms.ts';
import { routes as ownAccount } from '../accounts/own-account-page.ts';
import { routes as activity } from '../audit/activity-page.ts';
import { routes as audit } from '../audit/audit-page.ts';
import { routes as client } from '../clients/client.ts';
import { routes as clients } from '../clients/clients.ts';
import { routes as newClient } from '../clients/create-or-edit.ts';
import { routes as revokeClient } from '../clients/rotate-or-revoke.ts';
import { routes as conformance } from '../ehrs/conformance.ts';
import { routes as careUnits } from '../ehrs/connect/care-units.ts';
import { routes as checkDraft } from '../ehrs/connect/check.ts';
import { routes as newConnection } from '../ehrs/connect/new-connection.ts';
import { routes as openConnection } from '../ehrs/connect/open.ts';
import { routes as connectionSettings } from '../ehrs/connect/settings.ts';
import { routes as tryConnection } from '../ehrs/connect/try.ts';
import { routes as connection } from '../ehrs/connection.ts';
import { routes as connections } from '../ehrs/connections.ts';
import { routes as pause } from '../ehrs/pause.ts';
import { routes as report } from '../ehrs/report.ts';
import { routes as messages } from '../messages/messages.ts';
import { routes as history } from '../overview/history.ts';
import { routes as overview } from '../overview/overview.ts';
import { routes as oidc } from '../sign-in/oidc-page.ts';
import { routes as signInLink } from '../sign-in/sign-in-link-page.ts';
import { routes as signIn } from '../sign-in/sign-in-page.ts';
import { routes as webhook } from '../webhooks/webhook.ts';
import { routes as webhookActions } from '../webhooks/webhook-actions.ts';
import { routes as webhookCreate } from '../webhooks/webhook-form.ts';
import { routes as webhookSecret } from '../webhooks/webhook-secret.ts';
import { routes as webhooks } from '../webhooks/webhooks.ts';
import { routes as operation } from '../writes/operation.ts';
import { routes as operations } from '../writes/operations.ts';
import type { Route } from './page.ts';

/** The pages of the console and their forms. */
export const routes: readonly Route[] = [
  ...signIn,
  ...signInLink,
  ...oidc,
  ...ownAccount,
  ...ownAccountForms,
  ...overview,
  ...history,
  ...operations,
  ...operation,
  ...messages,
  ...connections,
  ...connection,
  ...pause,
  ...report,
  ...conformance,
  ...newConnection,
  ...connectionSettings,
  ...checkDraft,
  ...careUnits,
  ...tryConnection,
  ...openConnection,
  ...webhooks,
  ...webhookCreate,
  ...webhook,
  ...webhookActions,
  ...webhookSecret,
  ...accounts,
  ...accountActions,
  ...clients,
  ...client,
  ...newClient,
  ...revokeClient,
  ...audit,
  ...activity,
];
