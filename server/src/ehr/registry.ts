import type { ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Configuration, ConfiguredCareUnit } from '../config/configuration.ts';
import { type CareUnitConnection, createConnection, type EhrConnection } from './connection.ts';

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
    const careUnits = emr.care_units.map(careUnitConnection);
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

function careUnitConnection({ id, name, time_zone, language, policies }: ConfiguredCareUnit): CareUnitConnection {
  return {
    id,
    name,
    timeZone: time_zone,
    language,
    bookingConfirmation: policies.booking_confirmation,
    cancellationConfirmation: policies.cancellation_confirmation,
    cancellationCodeByEmail: policies.cancellation_code_by_email,
    code: {
      length: policies.code.length,
      lifetimeSeconds: policies.code.lifetime_seconds,
      attempts: policies.code.attempts,
    },
    limitsPerPatient: {
      pending: policies.limits_per_patient.pending,
      codesPerHour: policies.limits_per_patient.codes_per_hour,
    },
  };
}
