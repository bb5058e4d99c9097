import type { ConnectorOperation } from '@crossward/connector-kit';

/** What the guard stands around: `open` opens the connector. */
export type GuardedOperation = ConnectorOperation | 'open';
