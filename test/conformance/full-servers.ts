import { readdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { formatMatrix, type Report } from '@crossward/connector-kit/conformance';

/*
 * Writes docs/full-servers.md from the reports in docs/full-servers; with --check, fails if the page is out of date.
 * To add a report from `crossward conformance --json`:
 *
 *   npm run full-servers -- --report report.json --server 'HAPI FHIR 8.8.0 on H2' --mode transaction
 */

interface KeptReport {
  readonly server: string;
  /** The booking mode. */
  readonly mode: string;
  /** The date of the run. */
  readonly on: string;
  readonly report: Report;
}

const folder = new URL('../../docs/full-servers/', import.meta.url);
const page = new URL('../../docs/full-servers.md', import.meta.url);

const intro = `# Full FHIR servers

Conformance results of the connector \`fhir-r4\` with unmodified third-party servers, configured only with address,
credentials and the settings that \`crossward emr check\` recommends. Generated from stored reports of
\`crossward conformance\` by \`npm run full-servers\`; do not edit. [Conformance](conformance.md) explains the symbols, the
[connector's README](../connectors/fhir-r4/README.md#servers) lists the settings.

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
