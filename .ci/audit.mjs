// Asks the registry for known vulnerabilities of what production installs. Exits with 1 when one is of level high or
// critical. A registry that does not answer, or has no such question, says nothing about the change: then it is skipped.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const blocking = ['high', 'critical'];
const report = JSON.parse(await answer());
// Only an answer of the registry counts anything; npm reports what went wrong otherwise.
if (report.metadata?.vulnerabilities === undefined) {
  process.stdout.write(`Skipped: the registry has not answered: ${report.message ?? 'npm said nothing'}\n`);
} else {
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) process.stdout.write(`${severity}: ${name} ${range}\n`);
  const failing = found.filter(({ severity }) => blocking.includes(severity));
  process.stdout.write(`${found.length} vulnerable packages, ${failing.length} of level high or critical\n`);
  process.exitCode = failing.length === 0 ? 0 : 1;
}

async function answer() {
  try {
    const options = { timeout: 120_000, maxBuffer: 100_000_000, shell: process.platform === 'win32' };
    return (await promisify(execFile)('npm', ['audit', '--omit=dev', '--json'], options)).stdout || '{}';
  } catch ({ stdout, killed }) {
    return killed || !stdout ? '{}' : stdout;
  }
}
