import { type ConnectorContext, ConnectorError, type LeftOutRecord, type User } from '@crossward/connector-kit';
import { baseOf, createClient, type GpConnectClient, trimmed } from './client.ts';
import { createDirectory, type Directory } from './directory.ts';
import { type References, referencesAt } from './references.ts';
import type { GpConnectSettings } from './settings.ts';

/** The system of one practice. */
export interface GpConnectConnection {
  readonly client: GpConnectClient;
  readonly settings: GpConnectSettings;
  readonly directory: Directory;
  readonly references: References;
  /** Counts a record that cannot be read. */
  leftOut(record: LeftOutRecord): void;
  now(): Date;
}

/** @throws ConnectorError `rejected` for invalid settings of a care unit */
export function connect({
  settings,
  careUnits,
  http,
  now,
  user = () => undefined,
  leftOut = () => undefined,
}: ConnectorContext<GpConnectSettings>): GpConnectConnection {
  const services = settings.healthcare_services ?? [];
  if (new Set(services.map(({ id }) => id)).size < services.length) {
    throw new ConnectorError('rejected', 'Two healthcare_services have the same id');
  }
  return {
    client: createClient({ settings, http, now, user: () => user() ?? deskOf(settings), leftOut }),
    settings,
    directory: createDirectory(settings, careUnits),
    // Behind a proxy, a practice may name its resources by its own address or by that of the request.
    references: referencesAt([trimmed(settings.provider_url), baseOf(settings)]),
    leftOut,
    now,
  };
}

/** The user of the settings. */
function deskOf({ practitioner }: GpConnectSettings): User {
  const { id, family_name, given_name, title = null, sds_user_id = null, sds_role_profile_id = null } = practitioner;
  return {
    id,
    familyName: family_name,
    givenName: given_name,
    title,
    sdsUserId: sds_user_id,
    sdsRoleProfileId: sds_role_profile_id,
  };
}
