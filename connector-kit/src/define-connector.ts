import type { ConnectorModule, DatabaseConnectorModule, StatelessConnectorModule } from './connector.ts';

/**
 * Version of the port. It increases with each change after which earlier connectors no longer work. A gateway loads plug-ins
 * of its own version only.
 */
export const kitVersion = 1;

/**
 * Marks a module as made for this version of the kit. A package that is used as a plug-in exports the result as `connector`.
 *
 * @param module an object with its own methods, not an instance of a class
 * @returns a copy with `kitVersion`
 */
export function defineConnector<Settings>(
  module: StatelessConnectorModule<Settings>,
): StatelessConnectorModule<Settings>;
export function defineConnector<Settings>(module: DatabaseConnectorModule<Settings>): DatabaseConnectorModule<Settings>;
export function defineConnector<Settings>(module: ConnectorModule<Settings>): ConnectorModule<Settings> {
  return { ...module, kitVersion };
}
