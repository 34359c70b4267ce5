// Lists the files of a test run that have a failed test, one per line, and says on stderr which tests failed. If
// none failed, or more than a second try is meant for, it lists nothing and exits 1. Argument: the runner's JSON
// report.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** A second try is for deadlines missed by a busy machine, not for a broken change. */
const TESTS_MAX = 8;

const content = readFileSync(process.argv[2], 'utf8');
const files = content === '' ? [] : JSON.parse(content).testResults;
const failed = files
  .filter(({ status }) => status === 'failed')
  .map(({ name, assertionResults }) => ({
    file: relative(process.cwd(), name),
    tests: assertionResults.filter(({ status }) => status === 'failed'),
  }));
const count = failed.reduce((sum, { tests }) => sum + Math.max(1, tests.length), 0);
if (count === 0 || count > TESTS_MAX) process.exit(1);
for (const { file, tests } of failed) {
  for (const { fullName } of tests) console.error(`tried again: ${file} > ${fullName}`);
  if (tests.length === 0) console.error(`tried again: ${file}`);
  console.log(file);
}
