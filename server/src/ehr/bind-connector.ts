import type {
  Connector,
  ConnectorContext,
  ConnectorModule,
  DirectChanges,
  ProbeReport,
} from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';

/** A connector with the settings of one EHR. */
export interface BoundConnector {
  open(): Promise<Connector>;
  /** `undefined`: the connector has no probe. */
  probe(): Promise<ProbeReport | undefined>;
  /** `undefined`: the connector has no direct changes. */
  directChanges(): Promise<DirectChanges | undefined>;
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
  if (module.migrations === undefined) return bound(module, context);
  if (!database) throw new Error(`The connector ${module.name} needs a database`);
  return bound(module, { ...context, database });
}

type Opened<Context> = {
  open(context: Context): Promise<Connector>;
  probe?(context: Context): Promise<ProbeReport>;
  directChanges?(context: Context): Promise<DirectChanges>;
};

function bound<Context>(module: Opened<Context>, context: Context): BoundConnector {
  return {
    open: () => module.open(context),
    probe: async () => module.probe?.(context),
    directChanges: async () => module.directChanges?.(context),
  };
}
