import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { pageFrame } from '../pages/frame.ts';
import { addHtmlPages } from '../pages/html-pages.ts';
import type { PageLink } from '../pages/links.ts';
import { pageAllowances } from '../pages/style.ts';
import { isOwnHost } from '../protocol/hosts.ts';

/** The folder of the repository. */
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const prefix = '/demo/documents/';

const listed: readonly (readonly [file: string, title: string, about: string])[] = [
  ['docs/guide/README.md', 'Guide', 'requests and responses, identifiers, times, errors; with pages for each part'],
  ['docs/guide/appointments.md', 'Appointments', 'booking, moving, cancelling, codes'],
  ['docs/guide/retries.md', 'Retries', 'idempotency keys, unknown outcomes, when to send a request again'],
  ['docs/guide/events.md', 'Events', 'following what happens, webhooks'],
  ['client/README.md', 'Client', 'for TypeScript and JavaScript'],
  ['examples/booking-page/README.md', 'Example: booking page', 'a page for patients with the client'],
  ['examples/webhook-receiver/README.md', 'Example: receiver of webhooks', 'verifies and prints events'],
  ['examples/fhir/README.md', 'Example: FHIR server', 'a gateway in front of a FHIR server'],
  ['connectors/sandbox/README.md', 'Sandbox', 'people, resources and schedules of these EHRs'],
  ['docs/README.md', 'All documents', 'for callers, operators, authors of connectors and contributors'],
];

/** Documents to begin with. Empty if the gateway was installed without them. */
export const startDocuments: readonly PageLink[] = listed
  .filter(([file]) => existsSync(root + file))
  .map(([file, title, about]) => ({ title, path: prefix + file, about }));

/** `/demo/documents/{path}`: the Markdown files of the repository, under the name of this machine. */
export async function addDemoDocuments(app: FastifyInstance): Promise<void> {
  await addHtmlPages(app, { ...pageAllowances, 'script-src': ["'none'"] }, (pages) =>
    pages.get<{ Params: { '*': string } }>(`${prefix}*`, async (request, reply) => {
      const file = request.params['*'];
      if (!isOwnHost(request.headers.host) || !isDocument(file)) throw new Problem('route_not_found');
      // Few people read documents here, so the parser is loaded with the first one.
      const { renderMarkdown } = await import('./markdown.ts');
      const isHere = (path: string) => isDocument(posix.join(posix.dirname(file), path));
      const { title, content } = renderMarkdown(await readFile(root + file, 'utf8'), isHere);
      const page = pageFrame({ title, links: app.pageLinks?.(request) ?? [], content });
      return reply.type('text/html; charset=utf-8').send(page);
    }),
  );
}

/** No file that is hidden, of a package, or outside of the repository. */
function isDocument(path: string): boolean {
  const isAllowed = /^(?!(.*\/)?node_modules\/)(?:\w[\w-]*\/)*\w[\w-]*\.md$/.test(path);
  return isAllowed && existsSync(root + path);
}
