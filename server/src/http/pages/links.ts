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
    ...(hasMailbox ? [mailbox] : []),
    ...(hasConsole ? [console] : []),
    { title: 'OpenAPI document', path: '/api/openapi.json', about: 'For code generators; also as /api/openapi.yaml' },
  ];
}
