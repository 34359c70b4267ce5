// Prints the result of a test run in one line: "N passed, N failed". Arguments: the runner's JSON report and its
// exit code.
import { readFileSync } from 'node:fs';

const [, , reportFile, exitCode] = process.argv;
const content = readFileSync(reportFile, 'utf8');
const report =
  content === '' ? { numPassedTests: 0, numFailedTests: 0, testResults: [] } : JSON.parse(content);

// A file that could not be loaded has no tests in the report, but is a failure like any other.
const unloaded = report.testResults.filter(
  (file) =>
    file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const failed = report.numFailedTests + unloaded.length;
// A failure outside the tests, such as a server that did not start, only shows in the exit code.
const failedBeside = exitCode !== '0' && failed === 0 ? 1 : 0;
console.log(`${report.numPassedTests} passed, ${failed + failedBeside} failed`);
