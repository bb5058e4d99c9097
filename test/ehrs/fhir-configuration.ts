import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxSettings } from '../../connectors/sandbox/src/settings.ts';
import { demoConfigurationPath } from '../../server/src/config/file/demo.ts';
import { parseYaml } from '../../server/src/config/file/yaml-file.ts';
import type { ConfigurationFile } from '../../server/src/config/schema/schema.ts';
import { fhirSettingsOf } from './fhir-data.ts';

type EmrInFile = ConfigurationFile['emrs'][number];

/**
 * Writes the demo's configuration with FHIR connections in place of the sandboxes. Ids, care units and policies stay the
 * same. JSON is valid YAML: https://yaml.org/spec/1.2.2/#12-yaml-history
 *
 * @param baseUrlOf the URL of the FHIR server that replaces a sandbox, by connection id
 * @returns the path of the file
 */
export async function writeFhirConfiguration(folder: string, baseUrlOf: (emr: string) => string): Promise<string> {
  const demo = parseYaml(await readFile(demoConfigurationPath, 'utf8'));
  if ('mistakes' in demo) throw new Error('The configuration of the demo cannot be read');
  const file = demo.value as ConfigurationFile;
  const emrs = file.emrs.map((emr) => withFhir(emr, baseUrlOf(emr.id)));
  const path = join(folder, `crossward-${randomUUID()}.yaml`);
  await writeFile(path, JSON.stringify({ ...file, emrs }, null, 2));
  return path;
}

function withFhir(emr: EmrInFile, baseUrl: string): EmrInFile {
  return {
    ...emr,
    connector: 'fhir-r4',
    connection: { allow_private_addresses: true, settling_seconds: 1 },
    settings: fhirSettingsOf(emr.settings as SandboxSettings, baseUrl),
    care_units: emr.care_units.map((it) => ({ ...it, settings: { location: `Location/${it.id}` } })),
  };
}
