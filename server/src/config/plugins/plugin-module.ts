import { type ConnectorModule, kitVersion } from '@crossward/connector-kit';
import { isMapping, quoted } from '../mistakes/mistake.ts';
import { compile } from '../mistakes/validator.ts';
import { PluginMistake } from './plugin-resolution.ts';

const namePattern = /^[a-z][a-z0-9-]{0,39}$/;
/** Migrations of the gateway itself have this name. */
const reservedName = 'crossward';

/**
 * Takes the connector from the exports of a plug-in, and checks its shape.
 *
 * @param builtIn names that a plug-in may not have
 * @param question for a package that is no connector: it may not be meant
 * @throws {PluginMistake}
 */
export function connectorOf(
  exported: Readonly<Record<string, unknown>>,
  builtIn: readonly string[],
  question: string,
): ConnectorModule {
  const { connector } = exported;
  if (connector === undefined)
    throw new PluginMistake(`exports no "connector"; it exports ${listed(exported)}${question}`);
  if (!isMapping(connector) || connector.kitVersion === undefined) {
    throw new PluginMistake('exports a "connector" that was not made with defineConnector of @crossward/connector-kit');
  }
  if (connector.kitVersion !== kitVersion) {
    throw new PluginMistake(
      `was made for version ${String(connector.kitVersion)} of the connector kit; this gateway needs version ${kitVersion}`,
    );
  }
  const faults = shapeFaults(connector);
  if (faults.length > 0) throw new PluginMistake(`exports an invalid connector: ${faults.join(', ')}`);
  const { name } = connector as unknown as ConnectorModule;
  if (builtIn.includes(name) || name === reservedName) {
    throw new PluginMistake(`exports a connector with the name ${quoted(name)}, which belongs to the gateway`);
  }
  requireValidSchema((connector as unknown as ConnectorModule).settingsSchema);
  return connector as unknown as ConnectorModule;
}

function shapeFaults({ name, settingsSchema, open, probe, directChanges, migrations }: Record<string, unknown>) {
  const isFunction = (value: unknown) => typeof value === 'function';
  return [
    ...(typeof name === 'string' && namePattern.test(name)
      ? []
      : ['"name" must be lower-case letters, digits and hyphens']),
    ...(isMapping(settingsSchema) ? [] : ['"settingsSchema" must be a JSON Schema']),
    ...(isFunction(open) ? [] : ['"open" must be a function']),
    ...(probe === undefined || isFunction(probe) ? [] : ['"probe" must be a function']),
    ...(directChanges === undefined || isFunction(directChanges) ? [] : ['"directChanges" must be a function']),
    ...(migrations === undefined || migrations instanceof URL ? [] : ['"migrations" must be a URL']),
  ];
}

function requireValidSchema(schema: object): void {
  try {
    compile(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    throw new PluginMistake(`exports a connector whose "settingsSchema" is not a valid JSON Schema: ${reason}`);
  }
}

function listed(exported: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exported);
  return names.length === 0 ? 'nothing' : names.slice(0, 10).join(', ');
}
