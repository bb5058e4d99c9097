import { sandboxConnector } from '@crossward/connector-sandbox';
import { withoutHolds } from '../ehrs/limited-ehrs.ts';

/*
 * A preload: one of the sandboxes cannot hold times, so the gateway stores
 * drafts for it.
 */

export const draftsEhr = 'sandbox-drafts';

const { open } = sandboxConnector;
Object.assign(sandboxConnector, {
  async open(context: Parameters<typeof open>[0]) {
    const connector = await open(context);
    return context.emr === draftsEhr ? withoutHolds(connector) : connector;
  },
});
