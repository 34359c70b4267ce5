import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { machineMs } from '../support/machine-clock.ts';
import { type LoadJob, type LoadResult, PATHS } from './load-job.ts';
import { prepare, requestBytes } from './requests.ts';

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url));

const summary = z.object({
  answered: z.number(),
  elapsedUs: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
  refused: z.number(),
  broken: z.number(),
});

/** Sends a job's requests for its `seconds`, with a client that takes little processor time. */
export async function byWrk(job: LoadJob): Promise<LoadResult> {
  const url = new URL(PATHS[job.operation], job.url);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-wrk-'));
  try {
    const file = join(folder, 'requests');
    await writeFile(
      file,
      Buffer.concat(prepare(job).map((one) => numbered(requestBytes(url, one)))),
    );
    const options = ['-t', '1', '-c', String(job.connections), '-d', `${job.seconds ?? 1}s`];
    const startedAtMs = machineMs();
    const { stdout } = await promisify(execFile)('wrk', [
      ...[...options, '--timeout', '10s', '-s', SCRIPT],
      ...[url.href, '--', file],
    ]);
    const told = summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    const { answered, elapsedUs, p50Us, p99Us, refused, broken } = told;
    return {
      answered,
      startedAtMs,
      elapsedMs: elapsedUs / 1000,
      p50Ms: p50Us / 1000,
      p99Ms: p99Us / 1000,
      connectionErrors: broken,
      statuses: { 200: answered - refused, ...(refused === 0 ? {} : { other: refused }) },
      accepted: undefined,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bytes of one request, after their number. */
function numbered(request: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${request.length}\n`), request]);
}
