// Prints "N passed, N failed" from the test runner's own report and exit status; exits with 1 when anything failed.
import { readFileSync } from 'node:fs';

const [path, status] = process.argv.slice(2);
const { passed, failed } = counts(path);
// An error outside of every test, or no test at all, shows in the exit status alone.
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
