import type { ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Configuration } from '../config/configuration.ts';
import { createConnection, type EhrConnection } from './connection.ts';

/** Every configured EHR by its id, in the order of the configuration. */
export type EhrRegistry = ReadonlyMap<string, EhrConnection>;

/** Opens a connection to every EHR of the configuration. */
export async function openEhrRegistry(
  configuration: Pick<Configuration, 'emrs'>,
  connectors: readonly ConnectorModule[],
  database: PostgresPool,
): Promise<EhrRegistry> {
  const registry = new Map<string, EhrConnection>();
  for (const emr of configuration.emrs) {
    const module = connectors.find(({ name }) => name === emr.connector);
    if (!module) throw new Error(`No connector is named ${emr.connector}`);
    const connector = await module.open({
      emr: emr.id,
      settings: emr.settings,
      careUnits: emr.care_units.map(({ id, time_zone }) => ({ id, timeZone: time_zone })),
      database,
    });
    const careUnits = emr.care_units.map((careUnit) => ({
      id: careUnit.id,
      name: careUnit.name,
      timeZone: careUnit.time_zone,
      language: careUnit.language,
      bookingConfirmation: careUnit.policies.booking_confirmation,
      cancellationConfirmation: careUnit.policies.cancellation_confirmation,
    }));
    registry.set(
      emr.id,
      createConnection(
        {
          id: emr.id,
          name: emr.name,
          syntheticIdentifiers: emr.synthetic_identifiers,
          careUnits: new Map(careUnits.map((careUnit) => [careUnit.id, careUnit])),
        },
        connector,
      ),
    );
  }
  return registry;
}
