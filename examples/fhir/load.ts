import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clockChangeNights } from '../../connectors/fhir-r4/fake/clock-change-nights.ts';
import { careUnits, healthcareServices, loadDataSet } from '../../connectors/fhir-r4/fake/data-set.ts';
import { uploadTo } from '../../connectors/fhir-r4/fake/upload.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { type LoadOptions, OptionError, readLoadOptions, usage } from './load-options.ts';

/** Loads the example's data into a FHIR server: `npm run fhir:load -- --help`. */

const options = optionsOrExit();
const { baseUrl, headers } = options;
const uploader = uploadTo({ baseUrl, headers, keepsSlots: true });
const nights = clockChangeNights();
const count = await upload();

const id = (reference: string) => uploader.referenceOf(reference).replace(/^.*\//, '');
const path = await writeConfiguration(baseUrl);
process.stdout.write(`${count} resources are there. The configuration for them is in ${path}.
${usesToken() ? '\nexport FHIR_TOKEN=   # the token of --header\n' : ''}
npx crossward emr check --config ${path} --emr fhir

npx crossward conformance --config ${path} --emr fhir --care-unit north --other-care-unit south \\
  --patient emr_id:${id('Patient/p-1')} se_personal_number:191212121212 --other-patient ${id('Patient/p-3')} \\
  --written-number se_personal_number:197010632391 --written-phone ${id('Patient/p-6')}=+46701740605 \\
  --resource emr_id:${id('Practitioner/r-1')} hsa_id:SE0000000000-1001 se_personal_number:196408233234 \\
  --service consultation${nights.map(({ date }) => ` --clock-change ${date}`).join('')} --direct-changes
`);

function optionsOrExit(): LoadOptions {
  try {
    const given = readLoadOptions(process.argv.slice(2));
    if (given) return given;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

/** @returns how many resources of the data set are on the server now */
async function upload(): Promise<number> {
  let saved = 0;
  const progress = setInterval(() => process.stderr.write(`${saved} resources\n`), 5000);
  const save = async (resource: FhirResource) => {
    await uploader.save(resource);
    saved++;
  };
  try {
    await loadDataSet(save, options);
    for (const slot of nights.flatMap(({ slots }) => slots)) await save(slot);
    return saved;
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `The server cannot be reached: ${cause.message}` : message;
    process.stderr.write(`${reason}\nLoaded before: ${saved} resources\n`);
    process.exit(1);
  } finally {
    clearInterval(progress);
  }
}

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
