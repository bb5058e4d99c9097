import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { describeError } from '../../log/describe-error.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../frame/page.ts';
import { facts, notice } from '../frame/parts.ts';
import type { ClientAdministration } from './client-actions.ts';

interface NewSecret {
  readonly id: string;
  readonly secret: string;
  /** What has just happened. */
  readonly text: string;
  readonly more?: HtmlContent;
}

/** Shows a new secret: in the response to the form, because it is stored nowhere. */
export function clientSecretPage(context: SignedIn, { id, secret, text, more }: NewSecret): ConsoleResponse {
  return consolePage(context, {
    title: 'New secret',
    section: 'clients',
    content: html`${notice('good', text)}<h1>New secret</h1>
<p class="advice">Copy the secret now, and pass it on confidentially. It is not shown again: the gateway stores only its hash.</p>
${facts([
  ['x-service-client-id', html`<code>${id}</code>`],
  ['x-service-client-secret', html`<code class="secret">${secret}</code>`],
])}
<p>This gateway process accepts it now, others within 5 seconds.</p>
${more}
<p><a href="${linkTo(context, `clients/${id}`)}">Go to the client</a></p>`,
  });
}

export function administrationOf({ deps, session }: SignedIn): ClientAdministration {
  return { db: deps.services.db, keys: deps.services.keys, configured: deps.configured, by: session };
}

/** Makes this process use a committed change at once. If that fails, a background job does it. */
export async function applyChange({ deps }: SignedIn): Promise<void> {
  await deps.refreshClients().catch((error) => {
    deps.log.warn({ cause: describeError(error) }, 'reading clients failed, will retry');
  });
}

/** What a form was made for: a reload, or a form of another operator, changes nothing a second time. */
export function versionField(version: number): Html {
  return html`<input type="hidden" name="version" value="${version}">`;
}

export function readVersion({ request }: SignedIn): number {
  const text = request.form.get('version') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : -1;
}
