import type { ConnectorModule } from '@crossward/connector-kit';
import Type from 'typebox';
import { configurationSchema, connectorDescription } from './schema.ts';

/**
 * The text of `config.schema.json`, which editors use to complete and validate configuration files. It cannot check the
 * settings of plug-ins.
 */
export function publishedSchema(connectors: readonly ConnectorModule[]): string {
  const names = connectors.map(({ name }) => name);
  const connector = Type.Union([Type.String({ enum: names }), Type.String({ minLength: 1 })], {
    description: connectorDescription,
  });
  return `${JSON.stringify(configurationSchema(connectors, connector), null, 2)}\n`;
}
