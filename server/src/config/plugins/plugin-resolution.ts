import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolve as resolvePackage } from 'import-meta-resolve';

/** Names of npm packages: https://github.com/npm/validate-npm-package-name */
const packageName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export function isFilePath(reference: string): boolean {
  return /^\.\.?[\\/]/.test(reference) || isAbsolute(reference);
}

export function isPackageName(reference: string): boolean {
  return packageName.test(reference);
}

/**
 * URL of the module that a reference names. A file is relative to the folder of the configuration file. A package is looked
 * for from that folder, then from the gateway's.
 *
 * @param configuration path of the configuration file
 * @throws {PluginMistake}
 */
export function locatePlugin(reference: string, configuration: string): string {
  if (isFilePath(reference)) return locateFile(resolve(dirname(configuration), reference));
  const places = [pathToFileURL(resolve(configuration)).href, import.meta.url];
  for (const place of places) {
    try {
      return built(resolvePackage(reference, place));
    } catch (error) {
      if (error instanceof PluginMistake) throw error;
      const text = error instanceof Error ? error.message : '';
      if (!text.startsWith('Cannot find package'))
        throw new PluginMistake(`cannot be loaded: ${text.split('\n', 1)[0]}`);
    }
  }
  throw new PluginMistake(
    `is not an installed package: it was looked for from ${places.map((place) => dirname(fileURLToPath(place))).join(' and ')}`,
  );
}

function locateFile(path: string): string {
  if (!existsSync(path)) throw new PluginMistake(`does not exist: ${path}`);
  if (statSync(path).isDirectory()) {
    throw new PluginMistake(
      'is a folder; give the file that exports the connector, such as ./our-ehr/src/connector.ts',
    );
  }
  return pathToFileURL(path).href;
}

function built(url: string): string {
  if (url.startsWith('file:') && !existsSync(fileURLToPath(url))) {
    throw new PluginMistake('is installed, but its main file is missing; has it been built?');
  }
  return url;
}

/** Why a plug-in cannot be used. The message follows its name. */
export class PluginMistake extends Error {
  override readonly name = 'PluginMistake';
}
