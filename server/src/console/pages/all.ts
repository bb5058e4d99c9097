import type { ConsoleResponse, PageContext, SignedIn } from '../page.ts';
import type { consoleRoutes, RouteName } from '../routes.ts';
import { changeAccountRole, createAccount, disableAccount, newAccount, resetAccount } from './account-actions.ts';
import { accountPage, accountsPage } from './accounts.ts';
import { activityPage } from './activity.ts';
import { auditPage, searchAudit } from './audit.ts';
import { clientPage } from './client.ts';
import { clientsPage } from './clients.ts';
import { checkOneConnection, connectionsPage, showConnections } from './connections.ts';
import { confirmDrop, drop } from './drop.ts';
import { editClientPage, sendChangedClient } from './edit-client.ts';
import { endOthersSessions, endOwnSessions } from './end-sessions.ts';
import { messagesPage, sendMessageAgain } from './messages.ts';
import { newClientPage, sendNewClient } from './new-client.ts';
import { endOidc, startOidc } from './oidc.ts';
import { operationPage, retry } from './operation.ts';
import { operationsPage } from './operations.ts';
import { overviewPage } from './overview.ts';
import { ownAccountPage } from './own-account.ts';
import { beginOwnCodes, finishOwnCodes } from './own-codes.ts';
import { changeOwnPassword } from './own-password.ts';
import { revocationPage, sendRevocation } from './revoke-client.ts';
import { rotationPage, sendRotation } from './rotate-client.ts';
import { sendSignIn, signInPage } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { webhookPage } from './webhook.ts';
import {
  confirmDeleteWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  redeliverWebhook,
  testWebhook,
} from './webhook-actions.ts';
import { askWebhookChange, changeWebhook } from './webhook-change.ts';
import { createWebhook, newWebhook } from './webhook-create.ts';
import { askReplay, replayWebhook } from './webhook-replay.ts';
import { askWebhookRotation, rotateWebhook } from './webhook-secret.ts';
import { webhooksPage } from './webhooks.ts';

type PublicName = {
  [Name in RouteName]: (typeof consoleRoutes)[Name]['role'] extends 'public' ? Name : never;
}[RouteName];
type Pages<Name extends RouteName, Context> = Readonly<Record<Name, (context: Context) => Promise<ConsoleResponse>>>;

export const publicPages: Pages<PublicName, PageContext> = {
  signIn: (context) => signInPage(context),
  sendSignIn,
  startOidc,
  endOidc,
};

export const signedInPages: Pages<Exclude<RouteName, PublicName>, SignedIn> = {
  signOut,
  ownAccount: (context) => ownAccountPage(context),
  changeOwnPassword,
  beginOwnCodes,
  finishOwnCodes,
  signOutEverywhere: endOwnSessions,
  overview: overviewPage,
  operations: operationsPage,
  operation: operationPage,
  retryOperation: retry,
  confirmDrop,
  dropOperation: drop,
  messages: messagesPage,
  sendAgain: sendMessageAgain,
  connections: connectionsPage,
  connection: showConnections,
  checkConnection: checkOneConnection,
  webhooks: webhooksPage,
  newWebhook,
  createWebhook,
  webhook: webhookPage,
  testWebhook,
  redeliverWebhook,
  askReplay: (context) => askReplay(context),
  replayWebhook,
  askWebhookChange: (context) => askWebhookChange(context),
  changeWebhook,
  askWebhookRotation: (context) => askWebhookRotation(context),
  rotateWebhook,
  enableWebhook,
  disableWebhook,
  confirmDeleteWebhook,
  deleteWebhook,
  endSessions: endOthersSessions,
  accounts: accountsPage,
  newAccount: (context) => newAccount(context),
  createAccount,
  account: accountPage,
  changeAccountRole,
  resetAccount,
  disableAccount,
  clients: clientsPage,
  client: clientPage,
  newClient: newClientPage,
  createClient: sendNewClient,
  editClient: editClientPage,
  changeClient: sendChangedClient,
  askRotation: rotationPage,
  rotateClient: sendRotation,
  confirmRevocation: revocationPage,
  revokeClient: sendRevocation,
  audit: auditPage,
  searchAudit,
  activity: activityPage,
};
