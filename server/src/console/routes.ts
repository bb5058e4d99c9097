import type { Role } from './roles.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  /** Below `/console/`, in the form of Fastify's router. */
  readonly path: string;
  /** The role that the page needs. `public`: no session. */
  readonly role: Role | 'public';
  /** A form with a field for each care unit of the configuration. */
  readonly isLongForm?: true;
}

/** The pages of the console and their forms, by name. This file is small, because the start of the gateway loads it. */
export const consoleRoutes = {
  signIn: { method: 'GET', path: 'sign-in', role: 'public' },
  sendSignIn: { method: 'POST', path: 'sign-in', role: 'public' },
  startOidc: { method: 'GET', path: 'sign-in/oidc', role: 'public' },
  endOidc: { method: 'GET', path: 'sign-in/oidc/callback', role: 'public' },
  signOut: { method: 'POST', path: 'sign-out', role: 'view' },
  ownAccount: { method: 'GET', path: 'your-account', role: 'view' },
  changeOwnPassword: { method: 'POST', path: 'your-account/password', role: 'view' },
  beginOwnCodes: { method: 'POST', path: 'your-account/codes', role: 'view' },
  finishOwnCodes: { method: 'POST', path: 'your-account/new-codes', role: 'view' },
  signOutEverywhere: { method: 'POST', path: 'your-account/sign-out', role: 'view' },
  overview: { method: 'GET', path: '', role: 'view' },
  operations: { method: 'GET', path: 'operations', role: 'view' },
  operation: { method: 'GET', path: 'operations/:id', role: 'view' },
  retryOperation: { method: 'POST', path: 'operations/:id/retry', role: 'operate' },
  confirmDrop: { method: 'GET', path: 'operations/:id/drop', role: 'admin' },
  dropOperation: { method: 'POST', path: 'operations/:id/drop', role: 'admin' },
  messages: { method: 'GET', path: 'messages', role: 'view' },
  sendAgain: { method: 'POST', path: 'messages/:id/send', role: 'operate' },
  connections: { method: 'GET', path: 'connections', role: 'view' },
  connection: { method: 'GET', path: 'connections/:emr', role: 'operate' },
  checkConnection: { method: 'POST', path: 'connections/:emr', role: 'operate' },
  webhooks: { method: 'GET', path: 'webhooks', role: 'view' },
  newWebhook: { method: 'GET', path: 'new-webhook', role: 'admin' },
  createWebhook: { method: 'POST', path: 'new-webhook', role: 'admin' },
  webhook: { method: 'GET', path: 'webhooks/:id', role: 'view' },
  testWebhook: { method: 'POST', path: 'webhooks/:id/test', role: 'operate' },
  redeliverWebhook: { method: 'POST', path: 'webhooks/:id/deliveries/:delivery', role: 'operate' },
  askReplay: { method: 'GET', path: 'webhooks/:id/replay', role: 'operate' },
  replayWebhook: { method: 'POST', path: 'webhooks/:id/replay', role: 'operate' },
  askWebhookChange: { method: 'GET', path: 'webhooks/:id/change', role: 'admin' },
  changeWebhook: { method: 'POST', path: 'webhooks/:id/change', role: 'admin' },
  askWebhookRotation: { method: 'GET', path: 'webhooks/:id/secret', role: 'admin' },
  rotateWebhook: { method: 'POST', path: 'webhooks/:id/secret', role: 'admin' },
  enableWebhook: { method: 'POST', path: 'webhooks/:id/enable', role: 'admin' },
  disableWebhook: { method: 'POST', path: 'webhooks/:id/disable', role: 'admin' },
  confirmDeleteWebhook: { method: 'GET', path: 'webhooks/:id/delete', role: 'admin' },
  deleteWebhook: { method: 'POST', path: 'webhooks/:id/delete', role: 'admin' },
  endSessions: { method: 'POST', path: 'end-sessions', role: 'admin' },
  accounts: { method: 'GET', path: 'accounts', role: 'admin' },
  newAccount: { method: 'GET', path: 'new-account', role: 'admin' },
  createAccount: { method: 'POST', path: 'new-account', role: 'admin' },
  account: { method: 'GET', path: 'accounts/:name', role: 'admin' },
  changeAccountRole: { method: 'POST', path: 'accounts/:name/role', role: 'admin' },
  resetAccount: { method: 'POST', path: 'accounts/:name/reset', role: 'admin' },
  disableAccount: { method: 'POST', path: 'accounts/:name/disable', role: 'admin' },
  clients: { method: 'GET', path: 'clients', role: 'view' },
  client: { method: 'GET', path: 'clients/:id', role: 'view' },
  newClient: { method: 'GET', path: 'new-client', role: 'admin' },
  createClient: { method: 'POST', path: 'new-client', role: 'admin', isLongForm: true },
  editClient: { method: 'GET', path: 'clients/:id/edit', role: 'admin' },
  changeClient: { method: 'POST', path: 'clients/:id/edit', role: 'admin', isLongForm: true },
  askRotation: { method: 'GET', path: 'clients/:id/rotate', role: 'admin' },
  rotateClient: { method: 'POST', path: 'clients/:id/rotate', role: 'admin' },
  confirmRevocation: { method: 'GET', path: 'clients/:id/revoke', role: 'admin' },
  revokeClient: { method: 'POST', path: 'clients/:id/revoke', role: 'admin' },
  audit: { method: 'GET', path: 'audit', role: 'admin' },
  searchAudit: { method: 'POST', path: 'audit', role: 'admin' },
  activity: { method: 'GET', path: 'activity', role: 'view' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof consoleRoutes;
