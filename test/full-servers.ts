import { readdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { formatMatrix, type Report } from '@crossward/connector-kit/conformance';

/*
 * Writes docs/full-servers.md from the reports in docs/full-servers; with --check, fails when it says something else.
 * A report that `crossward conformance --json` has written is added with
 *
 *   npm run full-servers -- --report report.json --server 'HAPI FHIR 8.8.0 on H2' --mode transaction
 */

interface KeptReport {
  readonly server: string;
  /** How it was booked in. */
  readonly mode: string;
  /** The day on which it was seen. */
  readonly on: string;
  readonly report: Report;
}

const folder = new URL('../docs/full-servers/', import.meta.url);
const page = new URL('../docs/full-servers.md', import.meta.url);

const intro = `# Full FHIR servers

What the connector \`fhir-r4\` does with complete FHIR servers, as their makers ship them. The configuration has only their
address, credentials and what \`crossward emr check\` recommended. \`npm run full-servers\` generates this page from stored
reports of \`crossward conformance\`; do not edit it. [Connectors](connectors.md) explains the signs, the
[connector's README](../connectors/fhir-r4/README.md#servers) has the settings.

`;

const { values } = parseArgs({
  options: {
    report: { type: 'string' },
    server: { type: 'string' },
    mode: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});
const { report, server, mode, check } = values;

if (report !== undefined) await keep(report);
const text = intro + formatMatrix((await keptReports()).map(titled));
if (!check) {
  await writeFile(page, text);
} else if ((await readFile(page, 'utf8').catch(() => undefined)) !== text) {
  process.stderr.write('docs/full-servers.md is out of date: run npm run full-servers\n');
  process.exitCode = 1;
}

async function keep(path: string): Promise<void> {
  if (server === undefined || mode === undefined) throw new Error('A report needs --server and --mode');
  const on = new Date().toISOString().slice(0, 10);
  const kept: KeptReport = { server, mode, on, report: JSON.parse(await readFile(path, 'utf8')) };
  const name = `${server} ${mode}`.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify(kept, null, 2)}\n`);
}

async function keptReports(): Promise<KeptReport[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, folder), 'utf8'))));
}

function titled({ server, mode, on, report }: KeptReport): Report {
  return { ...report, subject: `${server}, \`${mode}\`, ${on}` };
}
