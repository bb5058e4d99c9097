/** A page that the gateway serves. */
export interface PageLink {
  readonly title: string;
  readonly path: string;
  readonly about: string;
}

/** What the start page and the welcome text of the demo link to. */
export function pageLinks({ hasMailbox }: { readonly hasMailbox: boolean }): PageLink[] {
  return [
    { title: 'API reference', path: '/docs/', about: 'Every operation, with examples that can be sent from the page' },
    ...(hasMailbox
      ? [{ title: 'Mailbox', path: '/demo/messages', about: 'The SMS and e-mails that patients would have received' }]
      : []),
    { title: 'OpenAPI document', path: '/api/openapi.json', about: 'For code generators; also as /api/openapi.yaml' },
  ];
}
