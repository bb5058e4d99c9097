import { type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { createClient, type GpConnectClient } from './client.ts';
import { createDirectory, type Directory } from './directory.ts';
import type { GpConnectSettings } from './settings.ts';

/** The system of one practice. */
export interface GpConnectConnection {
  readonly client: GpConnectClient;
  readonly settings: GpConnectSettings;
  readonly directory: Directory;
  now(): Date;
}

/** @throws ConnectorError `rejected` for invalid settings of a care unit */
export function connect({ settings, careUnits, http, now }: ConnectorContext<GpConnectSettings>): GpConnectConnection {
  const services = settings.healthcare_services ?? [];
  if (new Set(services.map(({ id }) => id)).size < services.length) {
    throw new ConnectorError('rejected', 'Two healthcare_services have the same id');
  }
  return {
    client: createClient({ settings, http, now, user: () => settings.practitioner }),
    settings,
    directory: createDirectory(settings, careUnits),
    now,
  };
}
