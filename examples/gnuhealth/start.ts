import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';
import { startHospital } from './hospital.ts';
import { NotPossible } from './python.ts';

/** In Oslo 09:00, 09:30 and so on: the times in the example requests of the repository's README. */
const readmeStarts = ['2030-03-15', '2030-03-18', '2030-03-19'].flatMap((day) =>
  ['08:00', '08:30', '09:00', '09:30'].map((time) => new Date(`${day}T${time}:00Z`)),
);

const report = (text: string) => process.stdout.write(`${text}\n`);
const clientSecret = randomBytes(32).toString('base64url');
const hospitalPassword = randomBytes(12).toString('base64url');
const data = process.env.CROSSWARD_DATA_DIR || '.data';
const folder = join(data, 'gnuhealth-example');

// Temporary data only: the hospital is new with each start.
delete process.env.DATABASE_URL;
Object.assign(process.env, {
  HOST: '127.0.0.1',
  CROSSWARD_CONFIG: process.env.CROSSWARD_CONFIG || fileURLToPath(new URL('crossward.yaml', import.meta.url)),
  CROSSWARD_DATA_DIR: folder,
  CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64'),
  EXAMPLE_CLIENT_SECRET: clientSecret,
  GNUHEALTH_PASSWORD: hospitalPassword,
});
const { configurationPath: path = '', port } = readEnvironment();
const configuration = await loadConfiguration({ path, connectors, environment: process.env });
const [emr] = configuration.emrs;
const [client] = configuration.clients;

const hospital = await startHospital({
  // Kept, because the packages are large.
  packages: join(data, 'gnuhealth-packages'),
  port: Number(new URL(String(emr?.settings.base_url)).port),
  password: hospitalPassword,
  alsoFree: readmeStarts,
  report,
}).catch((error: unknown) => {
  if (!(error instanceof NotPossible)) throw error;
  process.stderr.write(`${error.message}.\n`);
  process.exit(1);
});
process.once('exit', () => void hospital.stop());

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
report(`
Crossward runs with a GNU Health behind it. All people in it are synthetic.

  API reference                ${gateway}/docs/
  GNU Health                   ${hospital.url}, database ${hospital.database}
  The gateway's user           ${hospital.user}, password ${hospital.password}
  A user at its desk           ${hospital.desk.user}, password ${hospital.desk.password}
  Configuration                ${shown(path)}
  Credentials                  ${shown(clientFile)}

To book an appointment, run in this folder:

curl ${gateway}/api/emrs/${emr?.id}/care-units/${emr?.care_units[0]?.id}/appointments \\
  -H "x-service-client-id: ${credential('client_id')}" \\
  -H "x-service-client-secret: ${credential('client_secret')}" \\
  -H 'content-type: application/json' \\
  -d '{"patient_id":"${hospital.patients.kari}","resource_id":"${hospital.professionals.ada}","healthcare_service_id":"${hospital.specialty}","start_time":"2030-03-15T09:00:00","end_time":"2030-03-15T09:30:00"}'

Ctrl-C stops everything.
`);

/** The path relative to the current folder. */
function shown(file: string): string {
  const short = relative('', file);
  return short.startsWith('..') ? file : `./${short}`;
}
