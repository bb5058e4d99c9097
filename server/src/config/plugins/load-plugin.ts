import type { ConnectorModule } from '@crossward/connector-kit';
import { placeOfMistake, quoted } from '../mistakes/mistake.ts';
import { didYouMean } from '../mistakes/wording.ts';
import { connectorOf } from './plugin-module.ts';
import { isFilePath, isPackageName, locatePlugin, PluginMistake } from './plugin-resolution.ts';

/**
 * Loads the plug-in that a configuration file names.
 *
 * @param reference a package or a file
 * @param path of the configuration file
 * @param others connectors of the file so far, by reference
 * @throws {PluginMistake}
 */
export async function loadPlugin(
  reference: string,
  path: string,
  others: ReadonlyMap<string, ConnectorModule>,
  builtIn: readonly ConnectorModule[],
): Promise<ConnectorModule> {
  const names = builtIn.map(({ name }) => name);
  if (!isFilePath(reference) && !isPackageName(reference)) throw unknown(reference, names);
  const url = locate(reference, path, names);
  const module = connectorOf(await load(url), names, didYouMean(reference, names));
  for (const [other, { name }] of others) {
    if (name === module.name && others.get(other) !== module) {
      throw new PluginMistake(`exports a connector with the name ${quoted(name)}, as ${quoted(other)} does`);
    }
  }
  return module;
}

/** A name without a scope is more often a misspelled built-in connector than a package. */
function locate(reference: string, path: string, names: readonly string[]): string {
  try {
    return locatePlugin(reference, path);
  } catch (error) {
    const isMisspelled = !reference.startsWith('@') && !isFilePath(reference);
    if (isMisspelled && error instanceof PluginMistake && error.message.startsWith('is not an installed package')) {
      throw unknown(reference, names);
    }
    throw error;
  }
}

function unknown(reference: string, names: readonly string[]): PluginMistake {
  return new PluginMistake(
    `is unknown; must be one of ${names.join(', ')}, an installed package, or a file such as ./our-ehr.js${didYouMean(reference, names)}`,
  );
}

async function load(url: string): Promise<Record<string, unknown>> {
  try {
    return (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
      throw new PluginMistake(
        'is written in TypeScript, which an installed package cannot be: it must contain JavaScript',
      );
    }
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'it threw a value that is not an error';
    throw new PluginMistake(
      `cannot be loaded: ${reason.split('\n', 1)[0]}${code === 'ERR_MODULE_NOT_FOUND' ? '' : placeOfMistake(error)}`,
    );
  }
}
