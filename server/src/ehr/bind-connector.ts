import type { Connector, ConnectorContext, ConnectorModule, ProbeReport } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';

/** A connector with the settings of one EHR. */
export interface BoundConnector {
  open(): Promise<Connector>;
  /** `undefined`: the connector has no probe. */
  probe(): Promise<ProbeReport | undefined>;
}

/**
 * Binds a connector to one EHR. Only a connector with migrations gets the database.
 *
 * @param database absent: the connector has no migrations
 */
export function bindConnector(
  module: ConnectorModule,
  context: ConnectorContext<unknown>,
  database: PostgresPool | undefined,
): BoundConnector {
  if (module.migrations === undefined) {
    return { open: () => module.open(context), probe: async () => module.probe?.(context) };
  }
  if (!database) throw new Error(`The connector ${module.name} needs a database`);
  const withDatabase = { ...context, database };
  return { open: () => module.open(withDatabase), probe: async () => module.probe?.(withDatabase) };
}
