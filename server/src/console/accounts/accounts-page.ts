import { type Html, html } from '../../html/html.ts';
import { selectField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { badge, facts, notice, table, time } from '../frame/parts.ts';
import { listSessions, type OpenSession } from './open-sessions.ts';
import { type ListedOperator, listOperators } from './operators.ts';
import { roles } from './roles.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'accounts', role: 'admin', page: accountsPage },
  { method: 'GET', path: 'accounts/:name', role: 'admin', page: accountPage },
];

const results: Readonly<Record<string, readonly ['good' | 'bad', string]>> = {
  role: ['good', 'The role is changed, also in open sessions.'],
  disabled: ['good', 'The account is disabled, and its sessions have ended.'],
  own: ['bad', 'Nothing was changed: this is your own account. Ask another admin, or use the command line.'],
  unproven: [
    'bad',
    'Nothing was changed: somebody else than the console and commands of this version has changed the account. crossward operators reset <name> --role <role> lets it in again.',
  ],
  last_admin: ['bad', 'Nothing was changed: no other enabled account is an admin. Make another one admin first.'],
  sessions: ['good', 'The sessions have ended.'],
  unknown: ['bad', 'Nothing was changed: nobody with this name has a session.'],
  not_enabled: ['bad', 'Nothing was changed: the account is disabled already.'],
};

export const roleChoices = roles.map((role) => ({ value: role, text: role }));

/** The accounts that can sign in. */
async function accountsPage(context: SignedIn): Promise<ConsoleResponse> {
  const { services, settings } = context.deps;
  const accounts = await listOperators(services.db);
  const sessions = await listSessions(services.db, settings);
  const atProvider = Map.groupBy(
    sessions.filter(({ hasAccount }) => !hasAccount),
    ({ name }) => name,
  );
  const result = results[context.request.query.get('result') ?? ''];
  return consolePage(context, {
    title: 'Accounts',
    section: 'accounts',
    content: html`${result && notice(...result)}<h1>Accounts</h1>
<p>The accounts of this gateway that can sign in to the console.${
      settings.oidc && ` People who sign in with ${new URL(settings.oidc.issuer).hostname} have none here.`
    }</p>
${!settings.local_accounts && html`<p class="advice">The configuration turns accounts off (<code>console.local_accounts</code>): none of these can sign in.</p>`}
<div class="actions"><a class="button" href="${linkTo(context, 'new-account')}">New account</a></div>
<h2>Accounts of this gateway</h2>
${accounts.length === 0 ? html`<p class="empty">No accounts.</p>` : accountTable(context, accounts, sessions)}
${
  settings.oidc &&
  html`<h2>Operators by OpenID Connect</h2>
<p>Those who are signed in now. If you end their sessions, they can sign in again as long as the provider gives them a role.</p>
${atProvider.size === 0 ? html`<p class="empty">Nobody is signed in.</p>` : providerTable(context, [...atProvider.values()])}`
}`,
  });
}

function accountTable(context: SignedIn, accounts: readonly ListedOperator[], sessions: readonly OpenSession[]): Html {
  return table(
    'By name',
    ['State', 'Name', 'Role', 'One-time codes', 'Last sign-in', 'Created', 'Open sessions'],
    accounts.map((account) => [
      stateOf(account),
      html`<a href="${linkTo(context, `accounts/${account.name}`)}">${account.name}</a>${isOwn(context, account) && ' (you)'}`,
      account.role,
      account.hasTotp ? 'yes' : 'no',
      time(account.lastSignInAt),
      time(account.createdAt),
      sessions.filter(({ name }) => name === account.name).length,
    ]),
  );
}

/** @param operators the sessions of each */
function providerTable(context: SignedIn, operators: readonly (readonly OpenSession[])[]): Html {
  return table(
    'By name',
    ['Name', 'Role', 'Last request', 'Open sessions', 'Action'],
    operators.map((sessions) => {
      const name = sessions[0]?.name ?? '';
      const isOwnName = name === context.session.name;
      return [
        html`${name}${isOwnName && ' (you)'}`,
        [...new Set(sessions.map(({ role }) => role))].join(', '),
        time(new Date(Math.max(...sessions.map(({ lastUsedAt }) => lastUsedAt.getTime())))),
        sessions.length,
        isOwnName
          ? html`<a href="${linkTo(context, 'your-account')}">Your account</a>`
          : endForm(
              context,
              name,
              html`<button class="small danger" aria-label="End sessions of ${name}">End sessions</button>`,
            ),
      ];
    }),
  );
}

function endForm(context: SignedIn, name: string, button: Html): Html {
  return postForm(context, 'end-sessions', html`<input type="hidden" name="name" value="${name}">${button}`);
}

function stateOf({ isDisabled }: ListedOperator): Html {
  return isDisabled ? badge('notice', 'disabled') : badge('good', 'enabled');
}

export function isOwn({ session }: SignedIn, { id }: ListedOperator): boolean {
  return id === session.operatorId;
}

/** One account, and what an admin can do with it. */
async function accountPage(context: SignedIn): Promise<ConsoleResponse> {
  const account = await findAccount(context);
  if (!account) return noSuchAccount(context);
  const result = results[context.request.query.get('result') ?? ''];
  return consolePage(context, {
    title: `Account ${account.name}`,
    section: 'accounts',
    content: html`${result && notice(...result)}<p><a href="${linkTo(context, 'accounts')}">All accounts</a></p>
<div class="title"><h1>Account ${account.name}</h1>${stateOf(account)}</div>
${facts([
  ['Role', account.role],
  ['One-time codes', account.hasTotp ? 'yes' : 'no'],
  ['Last sign-in', time(account.lastSignInAt)],
  ['Created', time(account.createdAt)],
])}
${
  isOwn(context, account)
    ? html`<p class="advice">This is your own account. You change its password, its one-time codes and its sessions under
<a href="${linkTo(context, 'your-account')}">Your account</a>. The rest can be changed by another admin, or with
<code>npx crossward operators</code>.</p>`
    : forms(context, account)
}`,
  });
}

function forms(context: SignedIn, { name, role, isDisabled }: ListedOperator): Html {
  return html`<h2>Role</h2>
${postForm(
  context,
  `accounts/${name}/role`,
  html`<div class="fields">${selectField({ name: 'role', label: 'New role', value: role }, roleChoices)}</div>
<div class="actions"><button>Change the role</button></div>`,
)}
<h2>Sessions</h2>
<p>Signs the operator out in every browser, such as that of a lost phone. They can sign in again.</p>
${endForm(context, name, html`<div class="actions"><button class="secondary danger">End sessions</button></div>`)}
<h2>Reset</h2>
<p>Sets a new password and new one-time codes, which the next page shows once. Ends the sessions of the account${
    isDisabled && ', and enables it'
  }.</p>
${postForm(context, `accounts/${name}/reset`, html`<div class="actions"><button class="secondary danger">Reset</button></div>`)}
${
  !isDisabled &&
  html`<h2>Disable</h2>
<p>Ends the sessions of the account. Nobody can sign in with it until it is reset.</p>
${postForm(context, `accounts/${name}/disable`, html`<div class="actions"><button class="danger">Disable</button></div>`)}`
}`;
}

export async function findAccount({ deps, request }: SignedIn): Promise<ListedOperator | undefined> {
  return (await listOperators(deps.services.db)).find(({ name }) => name === request.params.name);
}

export function noSuchAccount(context: SignedIn): ConsoleResponse {
  return consolePage(context, {
    title: 'No such account',
    section: 'accounts',
    status: 404,
    content: html`<h1>No such account</h1>
<p>No account has this name.</p>
<p><a href="${linkTo(context, 'accounts')}">All accounts</a></p>`,
  });
}
