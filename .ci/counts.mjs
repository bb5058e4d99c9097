// Prints "N passed, N failed" from the test runner's JSON report and exit status. Exits with 1 if anything failed.
import { readFileSync } from 'node:fs';

const [path, status] = process.argv.slice(2);
const { passed, failed } = counts(path);
// An error outside all tests, or a run without tests, shows only in the exit status.
const failures = failed === 0 && status !== '0' ? 1 : failed;
process.stdout.write(`${passed} passed, ${failures} failed\n`);
process.exitCode = failures === 0 ? 0 : 1;

function counts(path) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
    const filesThatDidNotLoad = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
    );
    return { passed: numPassedTests, failed: numFailedTests + filesThatDidNotLoad.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
