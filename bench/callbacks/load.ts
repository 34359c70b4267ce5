import { readFileSync } from 'node:fs';
import { byAutocannon } from './load-autocannon.ts';
import type { LoadJob } from './load-job.ts';
import { byWrk } from './load-wrk.ts';

/**
 * Sends callbacks as fast as they are answered, each bet with its own `transactionId`. Argument: the file of a
 * `LoadJob`; prints a `LoadResult`.
 */
const job: LoadJob = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const result = job.client === 'wrk' ? await byWrk(job) : await byAutocannon(job);
console.log(JSON.stringify(result));
