import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMedplum } from '../../connectors/fhir-r4/counterparts/medplum.ts';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';

/** The dates in the example requests of the repository's README. */
const readmeDates = ['2030-03-15', '2030-03-18', '2030-03-19'];

const clientSecret = randomBytes(32).toString('base64url');
const folder = join(process.env.CROSSWARD_DATA_DIR || '.data', 'fhir-example');

// Temporary data only: the FHIR server does not store its data either.
delete process.env.DATABASE_URL;
Object.assign(process.env, {
  HOST: '127.0.0.1',
  CROSSWARD_CONFIG: process.env.CROSSWARD_CONFIG || fileURLToPath(new URL('crossward.yaml', import.meta.url)),
  CROSSWARD_DATA_DIR: folder,
  CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
  EXAMPLE_CLIENT_SECRET: clientSecret,
});
const { configurationPath: path = '', port } = readEnvironment();
const configuration = await loadConfiguration({ path, connectors, environment: process.env });
const [emr, second] = configuration.emrs;
const [client] = configuration.clients;
const [fhirUrl, secondUrl] = [emr, second].map((it) => new URL(String(it?.settings.base_url))) as [URL, URL];

const data = { alsoOn: readmeDates };
await startMedplum({ port: Number(fhirUrl.port), data });
// Medplum's repository in memory has no documents and no transactions.
await startFake({ port: Number(secondUrl.port), data });

// The process that owns the FHIR server's port owns the folder.
const removeFolder = () => rmSync(folder, { recursive: true, force: true });
removeFolder();
process.once('exit', removeFolder);
await mkdir(folder, { recursive: true, mode: 0o700 });
const clientFile = join(folder, 'client.json');
const credentials = { client_id: client?.id, client_secret: clientSecret };
await writeFile(clientFile, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });

// Runs the gateway. Ctrl-C shuts it down gracefully, and then this process.
await import('../../server/src/main.ts');

const gateway = `http://127.0.0.1:${port}`;
const credential = (name: string) => `$(node -p 'require("${shown(clientFile)}").${name}')`;
process.stdout.write(`
Crossward runs with two FHIR servers behind it. All people in them are synthetic.

  API reference                ${gateway}/docs/
  Codes sent to patients       ${gateway}/demo/messages
  FHIR servers                 ${new URL('Appointment', fhirUrl)}
                               ${new URL('Appointment', secondUrl)}
  Configuration                ${shown(path)}
  Credentials                  ${shown(clientFile)}

To book an appointment, run in this folder:

curl ${gateway}/api/emrs/${emr?.id}/care-units/${emr?.care_units[0]?.id}/appointments \\
  -H "x-service-client-id: ${credential('client_id')}" \\
  -H "x-service-client-secret: ${credential('client_secret')}" \\
  -H 'content-type: application/json' \\
  -d '{"patient_id":"p-3","resource_id":"r-1","healthcare_service_id":"consultation","start_time":"2030-03-15T09:00:00","end_time":"2030-03-15T09:30:00"}'

Ctrl-C stops all three servers.
`);

/** The path relative to the current folder. */
function shown(file: string): string {
  const short = relative('', file);
  return short.startsWith('..') ? file : `./${short}`;
}
