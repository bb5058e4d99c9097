import type { ConnectorModule } from '@crossward/connector-kit';
import { configurationSchema } from './schema.ts';

/** The text of `config.schema.json`, which editors use to complete and validate configuration files. */
export function publishedSchema(connectors: readonly ConnectorModule[]): string {
  return `${JSON.stringify(configurationSchema(connectors), null, 2)}\n`;
}
