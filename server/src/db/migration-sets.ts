import type { ConnectorModule } from '@crossward/connector-kit';
import type { MigrationSet } from './migrate.ts';

/** The gateway's migrations, followed by those of each connector that has some. */
export function migrationSets(connectors: readonly ConnectorModule[]): MigrationSet[] {
  const own = { name: 'crossward', folder: new URL('migrations/', import.meta.url) };
  return [own, ...connectors.flatMap(({ name, migrations }) => (migrations ? [{ name, folder: migrations }] : []))];
}
