import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { careUnits, healthcareServices, loadDataSet } from '../../connectors/fhir-r4/fake/data-set.ts';
import { uploadTo } from '../../connectors/fhir-r4/fake/upload.ts';

/*
 * Loads the synthetic people, schedules and slots of the example into any FHIR R4 server over REST.
 *
 *   npm run fhir:load -- --base-url <url> [--header 'Authorization: Bearer …'] [--days 42] [--also-on 2030-03-15]
 *
 * A second run adds what is missing and leaves every Slot as it is, so that nothing booked becomes free. Then it writes a
 * configuration for the server and prints the commands that check it.
 */

const { values: options } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    header: { type: 'string', multiple: true, default: [] },
    days: { type: 'string', default: '42' },
    'also-on': { type: 'string', multiple: true, default: [] },
  },
});
const baseUrl = options['base-url'];
const days = Number(options.days);
if (baseUrl === undefined || !Number.isInteger(days)) {
  process.stderr.write(
    "npm run fhir:load -- --base-url <url> [--header 'Name: value'] [--days 42] [--also-on <date>]\n",
  );
  process.exit(2);
}

const headers = Object.fromEntries(options.header.map(nameAndValue));
const uploader = uploadTo({ baseUrl, headers, keepsSlots: true });
let count = 0;
const progress = setInterval(() => process.stderr.write(`${count} resources\n`), 5000);
await loadDataSet(
  async (resource) => {
    await uploader.save(resource);
    count++;
  },
  { days, alsoOn: options['also-on'] },
);
clearInterval(progress);

const id = (reference: string) => uploader.referenceOf(reference).replace(/^.*\//, '');
const path = await writeConfiguration(baseUrl);
process.stdout.write(`${count} resources are there. The configuration for them is in ${path}.
${usesToken() ? '\nexport FHIR_TOKEN=   # the token of --header\n' : ''}
npx crossward emr check --config ${path} --emr fhir

npx crossward conformance --config ${path} --emr fhir --care-unit north --other-care-unit south \\
  --patient emr_id:${id('Patient/p-1')} se_personal_number:191212121212 --other-patient ${id('Patient/p-3')} \\
  --resource emr_id:${id('Practitioner/r-1')} hsa_id:SE0000000000-1001 se_personal_number:196408233234
`);

function usesToken(): boolean {
  return /^bearer /i.test(headers.Authorization ?? headers.authorization ?? '');
}

/** Writes a configuration file for the server. Returns its path. */
async function writeConfiguration(url: string): Promise<string> {
  const auth = usesToken() ? { auth: { type: 'bearer', token: { env: 'FHIR_TOKEN' } } } : {};
  const emr = {
    id: 'fhir',
    name: 'FHIR server',
    connector: 'fhir-r4',
    synthetic_identifiers: true,
    connection: { allow_private_addresses: true },
    settings: {
      base_url: url,
      ...auth,
      patient_identifier_types: ['se_personal_number'],
      resource_identifier_types: ['hsa_id', 'se_personal_number'],
      healthcare_services: healthcareServices,
    },
    care_units: careUnits.map((careUnit) => ({
      id: careUnit.id,
      name: careUnit.id,
      time_zone: careUnit.timeZone,
      language: 'sv',
      settings: { location: uploader.referenceOf(careUnit.settings.location) },
    })),
  };
  const client = {
    id: 'example',
    secrets: [{ env: 'EXAMPLE_CLIENT_SECRET' }],
    scopes: ['appointments:read', 'appointments:write', 'patients:read', 'resources:read'],
    grants: [{ emr: 'fhir' }],
  };
  const file = join(process.env.CROSSWARD_DATA_DIR || '.data', 'fhir-load', 'crossward.yaml');
  await mkdir(dirname(file), { recursive: true });
  // JSON is YAML: https://yaml.org/spec/1.2.2/#12-yaml-history
  await writeFile(file, JSON.stringify({ emrs: [emr], clients: [client] }, null, 2));
  return file;
}

function nameAndValue(header: string): [name: string, value: string] {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  process.stderr.write("A header must have the form 'Name: value'.\n");
  process.exit(2);
}
