import type { ConnectorModule } from '@crossward/connector-kit';
import type { MigrationSet } from './migrate.ts';

/** The gateway's own migrations, then those of every connector that brings some, under the connector's name. */
export function migrationSets(connectors: readonly ConnectorModule[]): MigrationSet[] {
  const own = { name: 'crossward', folder: new URL('migrations/', import.meta.url) };
  return [own, ...connectors.flatMap(({ name, migrations }) => (migrations ? [{ name, folder: migrations }] : []))];
}
