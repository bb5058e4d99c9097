// Prints "N passed, N failed" over all rings, from the test runner's own reports and exit statuses; exits with 1 when
// anything failed. Arguments: for each ring its report and its exit status.
import { readFileSync } from 'node:fs';

const outcomes = process.argv.slice(2);
const total = { passed: 0, failed: outcomes.length === 0 ? 1 : 0 };
for (let ring = 0; ring < outcomes.length; ring += 2) {
  const [path, status] = outcomes.slice(ring, ring + 2);
  const { passed, failed } = counts(path);
  total.passed += passed;
  // An error outside of every test, or no test at all, shows in the exit status alone.
  total.failed += failed === 0 && status !== '0' ? 1 : failed;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

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
