import { findListedClient, findOverridden, type ListedClient, type ListedGrant } from '../../clients/list-clients.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { badge, facts, notice, table, time } from '../frame/parts.ts';
import { notChangedTexts } from './client-actions.ts';
import { clientState, lastRotation } from './clients.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'clients/:id', role: 'view', page: clientPage }];

const results: Readonly<Record<string, readonly ['good' | 'bad', string]>> = {
  changed: ['good', 'The client is changed. Other gateway processes use the change within 5 seconds.'],
  ended: ['good', 'The client is revoked. It stops working in all gateway processes within 5 seconds.'],
  overridden_ended: [
    'good',
    'The stored client is revoked. The client of the configuration file with this id stays in effect.',
  ],
  ...Object.fromEntries(
    Object.entries(notChangedTexts).map(([name, text]) => [name, ['bad', `Nothing was changed. ${text}`] as const]),
  ),
};

/** The message about what has just happened, by the query. */
function resultNotice({ request }: SignedIn): Html | false {
  const result = results[request.query.get('result') ?? ''];
  return result !== undefined && notice(...result);
}

/** One client: what it may do, and its secrets. */
async function clientPage(context: SignedIn): Promise<ConsoleResponse> {
  const client = await findClient(context);
  if (!client) return noSuchClient(context);
  const { id, name, createdAt, revokedAt, returnUrls, source } = client;
  const overridden = await findOverridden(context.deps.services.db, context.deps.configured, id);
  return consolePage(context, {
    title: name,
    section: 'clients',
    content: html`${resultNotice(context)}<p><a href="${linkTo(context, 'clients')}">All clients</a></p>
<div class="title"><h1>${name}</h1>${clientState(client)}</div>
<p><code>${id}</code></p>
${adviceFor(client)}
${actions(context, client)}${overridden && overriddenNotice(context, overridden)}
<h2>May use</h2>
${facts(client.grants.map((grant) => [ehrName(grant), careUnits(grant)]))}
${facts([
  ['Scopes', list(client.scopes)],
  ['Return URLs', returnUrls.length === 0 ? 'none' : list(returnUrls)],
])}
${keys(client)}<h2>Secrets</h2>
${secrets(client)}
<h2>Details</h2>
${facts([
  ['Source', source],
  ...(source === 'operators'
    ? [['Created', time(createdAt)] as const, ['Last rotation', lastRotation(client)] as const]
    : []),
  ...(revokedAt ? [['Revoked', time(revokedAt)] as const] : []),
])}`,
  });
}

/** The client of the path, if it can be revoked: also a stored one that the configuration file overrides. */
export async function findRevocable(context: SignedIn): Promise<Changeable> {
  const { deps, request } = context;
  const overridden = await findOverridden(deps.services.db, deps.configured, request.params.id ?? '');
  return overridden ? { client: overridden } : findChangeable(context);
}

/** The client of the path. */
function findClient({ deps, request }: SignedIn): Promise<ListedClient | undefined> {
  return findListedClient(deps.services.db, deps.configured, request.params.id ?? '');
}

type Changeable = { readonly client: ListedClient } | { readonly response: ConsoleResponse };

/** The client of the path, if it can be changed, otherwise the page that says why not. */
export async function findChangeable(context: SignedIn): Promise<Changeable> {
  const client = await findClient(context);
  if (!client) return { response: noSuchClient(context) };
  if (client.source === 'configuration file')
    return { response: seeOther(context, `clients/${client.id}?result=configured`) };
  if (client.state === 'revoked') return { response: seeOther(context, `clients/${client.id}?result=revoked`) };
  return { client };
}

function noSuchClient(context: SignedIn): ConsoleResponse {
  return consolePage(context, {
    title: 'No such client',
    section: 'clients',
    status: 404,
    content: html`<h1>No such client</h1>
<p>${notChangedTexts.unknown}</p>
<p><a href="${linkTo(context, 'clients')}">All clients</a></p>`,
  });
}

function adviceFor({ source, state }: ListedClient): Html | false {
  if (source === 'configuration file') {
    return html`<p class="advice">This client is in the configuration file. Change it there: the gateway follows.
It can be granted EHRs of the file only. For one of the database, create a client here.</p>`;
  }
  return state === 'revoked' && html`<p class="advice">This client is revoked. Its id is not used again.</p>`;
}

function actions(context: SignedIn, { id, source, state }: ListedClient): Html | false {
  const mayChange = source === 'operators' && state === 'active' && includesRole(context.session.role, 'admin');
  const link = (path: string, text: string, danger = '') =>
    html`<a class="button secondary${danger}" href="${linkTo(context, `clients/${id}/${path}`)}">${text}</a>\n`;
  return (
    mayChange &&
    html`<div class="actions">
${link('edit', 'Change …')}${link('rotate', 'Rotate the secret …')}${link('revoke', 'Revoke …', ' danger')}</div>`
  );
}

/** The stored client would come back when the file no longer has its id. */
function overriddenNotice(context: SignedIn, { id }: ListedClient): Html {
  return html`<p class="advice">A stored client has this id too. It is not used, but works again, with its secrets, when the
configuration file no longer has the id. If it must not, revoke it.</p>
${
  includesRole(context.session.role, 'admin') &&
  html`<div class="actions"><a class="button secondary danger" href="${linkTo(context, `clients/${id}/revoke`)}">Revoke the stored client …</a></div>`
}`;
}

function ehrName({ emr, name }: ListedGrant): string {
  return name === undefined ? emr : `${name} (${emr})`;
}

function careUnits({ name, careUnits }: ListedGrant): HtmlContent {
  if (name === undefined) return html`${badge('notice', 'not in the configuration')} no access`;
  if (careUnits === null) return 'all care units';
  return html`<ul class="plain">${careUnits.map(
    ({ id, name }) =>
      html`<li>${name ?? id}${name === undefined && html` ${badge('notice', 'not in the configuration')} no access`}</li>`,
  )}</ul>`;
}

function list(items: readonly string[]): Html {
  return html`<ul class="plain">${items.map((item) => html`<li><code>${item}</code></li>`)}</ul>`;
}

function keys({ keys, state }: ListedClient): Html | false {
  return (
    keys !== undefined &&
    state !== 'revoked' &&
    html`<h2>Keys</h2>
<p>The client signs assertions for access tokens of five minutes. <code>crossward clients update</code> changes its keys.</p>
${facts([
  'uri' in keys
    ? ['JWKS URI', html`<code>${keys.uri}</code>`]
    : ['Key ids', list(keys.jwks.keys.map(({ kid }) => kid))],
])}
`
  );
}

function secrets({ secrets, source, state }: ListedClient): Html {
  if (source === 'configuration file')
    return html`<p>The configuration file names them, if there are any. Their age is not known.</p>`;
  if (state === 'revoked') return html`<p>None: they ended when the client was revoked.</p>`;
  if (secrets.length === 0) return html`<p>None. A rotation gives the client one.</p>`;
  const now = Date.now();
  return table(
    'The newest first. The gateway stores hashes of them only.',
    ['Secret', 'Created', 'Valid until'],
    secrets.map(({ createdAt, expiresAt }, index) => [
      index === 0 ? 'Current' : 'Previous',
      time(createdAt),
      expiresAt && expiresAt.getTime() <= now ? html`expired ${time(expiresAt)}` : time(expiresAt, 'the next rotation'),
    ]),
  );
}
