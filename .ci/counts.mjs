// Prints the failed tests of all rings, each with the first line of its failure, then "N passed, N failed", from the test
// runner's JSON reports and exit statuses. Exits with 1 if anything failed. Arguments: for each ring, the path of its report
// and its exit status. A check without a report has the path ''.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const outcomes = process.argv.slice(2);
const total = { passed: 0, failed: outcomes.length === 0 ? 1 : 0 };
for (let ring = 0; ring < outcomes.length; ring += 2) {
  const [path, status] = outcomes.slice(ring, ring + 2);
  const { passed, failed } = counts(path);
  total.passed += passed;
  // An error outside all tests, or a run without tests, shows only in the exit status.
  total.failed += failed === 0 && status !== '0' ? 1 : failed;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

function counts(path) {
  if (path === '') return { passed: 0, failed: 0 };
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
    const filesThatDidNotLoad = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
    );
    for (const file of testResults) printFailures(file, filesThatDidNotLoad.includes(file));
    return { passed: numPassedTests, failed: numFailedTests + filesThatDidNotLoad.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

function printFailures({ name, message, assertionResults }, didNotLoad) {
  const failed = assertionResults
    .filter((result) => result.status === 'failed')
    .map(({ fullName, failureMessages }) => [fullName, failureMessages[0]]);
  for (const [test, failure = ''] of didNotLoad ? [['(did not load)', message]] : failed) {
    process.stdout.write(`Failed: ${relative('.', name)}: ${test}: ${failure.split('\n', 1)[0]}\n`);
  }
}
