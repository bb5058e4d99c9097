import type { ConnectorModule } from '@crossward/connector-kit';
import { isMapping, type Mistake, quoted } from '../mistakes/mistake.ts';
import { PluginMistake } from './plugin-resolution.ts';

/** The connectors of a configuration file. Key: the value of `connector`, which names a built-in one, a package or a file. */
export interface NamedConnectors {
  readonly connectors: ReadonlyMap<string, ConnectorModule>;
  /** Packages and files that cannot be used. */
  readonly unusable: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/**
 * Loads the plug-ins that a configuration file names. A plug-in is code with all rights of the gateway.
 *
 * @param value the parsed file, not yet validated
 * @param path of the file
 */
export async function withPlugins(
  value: unknown,
  path: string,
  builtIn: readonly ConnectorModule[],
): Promise<NamedConnectors> {
  const connectors = new Map(builtIn.map((module) => [module.name, module]));
  const mistakes: Mistake[] = [];
  const failures = new Map<string, string>();
  for (const { reference, index } of references(value)) {
    if (!connectors.has(reference) && !failures.has(reference)) {
      // Most gateways have no plug-ins.
      const { loadPlugin } = await import('./load-plugin.ts');
      try {
        connectors.set(reference, await loadPlugin(reference, path, connectors, builtIn));
      } catch (error) {
        if (!(error instanceof PluginMistake)) throw error;
        failures.set(reference, error.message);
      }
    }
    const failure = failures.get(reference);
    if (failure !== undefined) {
      mistakes.push({
        path: ['emrs', index, 'connector'],
        at: 'value',
        text: `${quoted(reference)} ${failure}`,
      });
    }
  }
  return { connectors, unusable: [...failures.keys()], mistakes };
}

function references(value: unknown): { reference: string; index: number }[] {
  const emrs = isMapping(value) && Array.isArray(value.emrs) ? value.emrs : [];
  return emrs.flatMap((emr: unknown, index) =>
    isMapping(emr) && typeof emr.connector === 'string' ? [{ reference: emr.connector, index }] : [],
  );
}
