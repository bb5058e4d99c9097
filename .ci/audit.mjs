// Checks the production dependencies for known vulnerabilities. Exits with 1 if one has severity high or critical. Skips the
// check if the registry is unavailable or does not support audits: that says nothing about the change.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const blocking = ['high', 'critical'];
const report = JSON.parse(await audit());
// Only a response of the registry has counts. Otherwise npm reports an error.
if (report.metadata?.vulnerabilities === undefined) {
  process.stdout.write(`Skipped: no response from the registry: ${report.message ?? 'npm reported no reason'}\n`);
} else {
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) process.stdout.write(`${severity}: ${name} ${range}\n`);
  const failing = found.filter(({ severity }) => blocking.includes(severity));
  process.stdout.write(`${found.length} vulnerable packages, ${failing.length} of severity high or critical\n`);
  process.exitCode = failing.length === 0 ? 0 : 1;
}

async function audit() {
  try {
    const options = { timeout: 120_000, maxBuffer: 100_000_000, shell: process.platform === 'win32' };
    return (await promisify(execFile)('npm', ['audit', '--omit=dev', '--json'], options)).stdout || '{}';
  } catch ({ stdout, killed }) {
    return killed || !stdout ? '{}' : stdout;
  }
}
