import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import { consoleUrl, isOwnHost } from '../protocol/hosts.ts';

/** A page that the gateway serves. */
export interface PageLink {
  readonly title: string;
  readonly path: string;
  readonly about: string;
}

interface Served {
  readonly hasMailbox: boolean;
  readonly hasConsole: boolean;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The pages that a request can reach. Absent on a server without pages. */
    readonly pageLinks?: (request: FastifyRequest) => readonly PageLink[];
  }
}

const mailbox = {
  title: 'Mailbox',
  path: '/demo/messages',
  about: 'The SMS and e-mails that patients would have received',
};
const console = { title: 'Console', path: '/console', about: 'For operators: EHRs, operations and messages' };

/** What the start page and the welcome text of the demo link to. */
export function pageLinks({ hasMailbox, hasConsole }: Served): PageLink[] {
  return [
    { title: 'API reference', path: '/docs/', about: 'Every operation, with examples that can be sent from the page' },
    { title: 'Errors', path: '/problems/', about: 'Every error of the interface, and what to do' },
    ...(hasMailbox ? [mailbox] : []),
    ...(hasConsole ? [console] : []),
    { title: 'OpenAPI document', path: '/api/openapi.json', about: 'For code generators; also as /api/openapi.yaml' },
  ];
}

interface Dependencies {
  readonly mailbox?: object | undefined;
  readonly console?: { readonly settings: ConsoleSettings } | undefined;
}

/** Tells all pages which others the host of a request shows. */
export function addPageLinks(app: FastifyInstance, { mailbox, console }: Dependencies): void {
  app.decorate('pageLinks', ({ headers: { host }, host: publicHost }: FastifyRequest) =>
    pageLinks({
      hasMailbox: mailbox !== undefined && isOwnHost(host),
      hasConsole: console !== undefined && consoleUrl(console.settings, publicHost) !== undefined,
    }),
  );
}
