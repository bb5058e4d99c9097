import type { ConsoleResponse, PageContext, SignedIn } from '../page.ts';
import type { consoleRoutes, RouteName } from '../routes.ts';
import { activityPage } from './activity.ts';
import { clientPage } from './client.ts';
import { clientsPage } from './clients.ts';
import { checkOneConnection, connectionsPage, showConnections } from './connections.ts';
import { confirmDrop, drop } from './drop.ts';
import { editClientPage, sendChangedClient } from './edit-client.ts';
import { messagesPage, sendMessageAgain } from './messages.ts';
import { newClientPage, sendNewClient } from './new-client.ts';
import { endOidc, startOidc } from './oidc.ts';
import { operationPage, retry } from './operation.ts';
import { operationsPage } from './operations.ts';
import { overviewPage } from './overview.ts';
import { revocationPage, sendRevocation } from './revoke-client.ts';
import { rotationPage, sendRotation } from './rotate-client.ts';
import { sendSignIn, signInPage } from './sign-in.ts';
import { signOut } from './sign-out.ts';

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
  activity: activityPage,
};
