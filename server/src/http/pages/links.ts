/** A page that the gateway serves. */
export interface PageLink {
  readonly title: string;
  readonly path: string;
  readonly about: string;
}

interface Shown {
  readonly hasMailbox: boolean;
  readonly hasConsole: boolean;
}

/** What the start page and the welcome text of the demo link to. */
export function pageLinks({ hasMailbox, hasConsole }: Shown): PageLink[] {
  return [
    { title: 'API reference', path: '/docs/', about: 'Every operation, with examples that can be sent from the page' },
    ...(hasMailbox
      ? [{ title: 'Mailbox', path: '/demo/messages', about: 'The SMS and e-mails that patients would have received' }]
      : []),
    ...(hasConsole
      ? [{ title: 'Console', path: '/console', about: 'For operators: EHRs, unfinished writes, failed messages' }]
      : []),
    { title: 'OpenAPI document', path: '/api/openapi.json', about: 'For code generators; also as /api/openapi.yaml' },
  ];
}
