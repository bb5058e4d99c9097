// Writes docs/connectors.md from fresh conformance reports. That it is up to date is tested with the conformance itself.
import { writeFile } from 'node:fs/promises';
import { formatMatrix, type Report, runConformance, type Subject } from '@crossward/connector-kit/conformance';
import { fakes, medplums } from '../connectors/fhir-r4/test/conformance-subjects.ts';
import { sandboxSubject } from '../connectors/sandbox/test/conformance-subject.ts';
import { gatewayBefore } from '../server/src/cli/gateway-before.ts';
import { pgliteDatabase, startPglite } from '../server/src/db/database.ts';
import { migrate } from '../server/src/db/migrate.ts';
import { migrationSets } from '../server/src/db/migration-sets.ts';
import { connectors } from '../server/src/ehr/connectors.ts';

const target = new URL('../docs/connectors.md', import.meta.url);

const intro = `# Connectors

What each connector does, proved against a live EHR or a test server. \`npm run connectors-matrix\` generates this page
from conformance reports; do not edit it. To add a connector, see [writing a connector](writing-a-connector.md).

- \`✓ 9\`: claimed, and all nine checks passed
- \`✓ 7 of 9\`: two checks could not run with this server; they are listed below
- \`✗ 2 of 9\`: two checks failed
- \`–\`: not claimed. The gateway responds \`operation_unsupported\`, or does it itself: it keeps a draft if the EHR cannot
  hold a time, and compensates if the EHR has no transactions

`;

/** Every connector over every counterpart, one at a time. */
const makeSubjects: readonly (() => Promise<Subject>)[] = [sandbox, ...[...fakes, ...medplums].map(({ make }) => make)];

async function sandbox(): Promise<Subject> {
  const database = await pgliteDatabase(startPglite({}));
  await migrate(database, migrationSets(connectors));
  return Object.assign(await sandboxSubject('sandbox', database.pool), { close: database.close });
}

async function reportOf(makeSubject: () => Promise<Subject>): Promise<Report> {
  const subject = await makeSubject();
  const withGateway: Subject = Object.create(subject, {
    askGateway: { value: gatewayBefore(() => subject.connector) },
  });
  try {
    return await runConformance(withGateway);
  } finally {
    await subject.close?.();
  }
}

const reports: Report[] = [];
for (const makeSubject of makeSubjects) reports.push(await reportOf(makeSubject));
await writeFile(target, intro + formatMatrix(reports));
for (const { subject, results } of reports) {
  for (const { capability, check, reason } of results.filter(({ outcome }) => outcome === 'failed')) {
    process.stderr.write(`${subject}: ${capability}: ${check}: ${reason}\n`);
    process.exitCode = 1;
  }
}
