import { type ListedClient, listClients, missingPart } from '../../clients/list-clients.ts';
import { type HtmlContent, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { badge, type Tone, table, time } from '../frame/parts.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'clients', role: 'view', page: clientsPage }];

const tones: Readonly<Record<ListedClient['state'], Tone>> = {
  active: 'good',
  revoked: 'neutral',
  overridden: 'notice',
};

export function clientState({ state }: ListedClient) {
  return badge(tones[state], state);
}

/** The clients of the configuration file, and those that operators manage. */
async function clientsPage(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session } = context;
  const clients = await listClients(deps.services.db, deps.configured);
  return consolePage(context, {
    title: 'Clients',
    section: 'clients',
    content: html`<h1>Clients</h1>
<p>Clients may call the API. Those of the configuration file can only be changed in that file.</p>
${
  includesRole(session.role, 'admin')
    ? html`<div class="actions"><a class="button" href="${linkTo(context, 'new-client')}">New client</a></div>`
    : html`<p class="quiet">Changes need the role admin.</p>`
}
<h2>All clients</h2>
${clients.length === 0 ? html`<p class="empty">No clients.</p>` : clientTable(context, clients)}
${
  clients.some(({ state }) => state === 'overridden') &&
  html`<p class="quiet">Overridden: the configuration file has a client with the same id, which is used instead.</p>`
}`,
  });
}

function clientTable(context: SignedIn, clients: readonly ListedClient[]) {
  return table(
    'By id',
    ['Client', 'Source', 'EHRs', 'Scopes', 'State', 'Last rotation'],
    clients.map((client) => [
      html`<a href="${linkTo(context, `clients/${client.id}`)}">${client.id}</a>${
        client.name !== client.id && html`<br><span class="quiet">${client.name}</span>`
      }`,
      client.source,
      ehrsOf(client),
      client.scopes.length,
      html`${clientState(client)}${
        client.revokedAt && html`<br><span class="quiet">all secrets ended ${time(client.revokedAt)}</span>`
      }`,
      lastRotation(client),
    ]),
  );
}

export function lastRotation({ rotatedAt }: ListedClient): HtmlContent {
  return rotatedAt instanceof Date ? time(rotatedAt) : rotatedAt;
}

function ehrsOf({ grants }: ListedClient): HtmlContent {
  return grants.map((grant, index) => {
    const missing = missingPart(grant);
    return [index > 0 && ', ', grant.emr, missing && html` ${badge('notice', `${missing} not configured`)}`];
  });
}
