import {
  type Connector,
  type ConnectorContext,
  type ConnectorModule,
  type DirectChanges,
  type EhrPlace,
  type PatientIdentifierType,
  type ProbeReport,
  type ServerDescription,
  withRightAnswers,
} from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import { ConfigurationError } from '../startup/configuration-error.ts';

/** A connector with the settings of one EHR. */
export interface BoundConnector {
  /**
   * The connector, with its results checked.
   *
   * @throws {ConfigurationError} if the connector returns something that is not a connector
   */
  open(): Promise<Connector>;
  /** `undefined`: the connector has no probe. */
  probe(): Promise<ProbeReport | undefined>;
  /** `undefined`: the connector does not say what its server is. */
  describe(): Promise<ServerDescription | undefined>;
  /** None: the connector has none to offer. */
  places(): Promise<readonly EhrPlace[]>;
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
  readonly name: string;
  open(context: Context): Promise<Connector>;
  probe?(context: Context): Promise<ProbeReport>;
  describe?(context: Context): Promise<ServerDescription>;
  places?(context: Context): Promise<readonly EhrPlace[]>;
  directChanges?(context: Context): Promise<DirectChanges>;
};

function bound<Context>(module: Opened<Context>, context: Context): BoundConnector {
  return {
    open: async () => withRightAnswers(checked(module.name, await module.open(context))),
    probe: async () => module.probe?.(context),
    describe: async () => module.describe?.(context),
    places: async () => (await module.places?.(context)) ?? [],
    directChanges: async () => module.directChanges?.(context),
  };
}

const identifierLists = ['patientIdentifierTypes', 'resourceIdentifierTypes', 'changes'] as const;

/** A plug-in can be JavaScript, or compiled without type checks. Without this, its first request would fail instead. */
function checked(name: string, connector: Connector | undefined): Connector {
  const capabilities = connector?.capabilities;
  if (!connector || typeof capabilities !== 'object' || capabilities === null) {
    throw mistake(`"open" of the connector ${name} must return an object with "capabilities"`);
  }
  const missing = identifierLists.find((list) => !Array.isArray(capabilities[list]));
  if (missing) throw mistake(`"capabilities.${missing}" of the connector ${name} must be an array`);
  if (capabilities.changes.length > 0 && typeof connector.changeAppointments !== 'function') {
    throw mistake(`The connector ${name} claims changes, and has no function "changeAppointments"`);
  }
  const { passesThrough, patientIdentifierTypes } = capabilities;
  if (passesThrough) checkPassing(name, connector, passesThrough, patientIdentifierTypes);
  return connector;
}

/** Where identifiers pass through, the EHR looks up no patient, by whatever identifier. */
function checkPassing(
  name: string,
  connector: Connector,
  passing: readonly PatientIdentifierType[],
  types: readonly PatientIdentifierType[],
): void {
  if (connector.findPatient) {
    throw mistake(`The connector ${name} has "findPatient", although its "capabilities.passesThrough" says it cannot`);
  }
  const expected = ['emr_id', ...passing] as const;
  if (passing.length === 0 || types.length !== expected.length || !expected.every((it) => types.includes(it))) {
    throw mistake(
      `"capabilities.patientIdentifierTypes" of the connector ${name} must be emr_id and the types in "capabilities.passesThrough"`,
    );
  }
}

function mistake(text: string): ConfigurationError {
  return new ConfigurationError([text]);
}
