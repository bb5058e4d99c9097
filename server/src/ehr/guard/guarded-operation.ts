import type { ConnectorOperation } from '@crossward/connector-kit';

/** The calls that the guard protects: those of the connector, and `open`, which opens it. */
export type GuardedOperation = ConnectorOperation | 'open';
