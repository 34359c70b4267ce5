import { execFile } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GatewayError } from '../../src/domain/errors.ts';
import { OutOfTime } from '../../src/lib/within.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagergate-log-'));
});
afterAll(() => rm(folder, { recursive: true }));

const LINES = 20_000;

it('a log that nobody reads for a while takes no more memory than it may, and says how many lines are missing (I7)', async () => {
  const pipe = join(folder, 'log');
  await promisify(execFile)('mkfifo', [pipe]);
  const file = await open(pipe, 'r+');
  const logger = createLogger('info', null, { fd: file.fd, waitingBytesMax: 200_000 });
  for (let n = 1; n <= LINES; n += 1) logger.info({ n }, 'test.line');
  const buffer = Buffer.alloc(65_536);
  let text = '';
  const readUntil = async (message: string) => {
    while (!text.includes(message) || !text.endsWith('\n')) {
      const { bytesRead } = await file.read(buffer);
      text += buffer.toString('utf8', 0, bytesRead);
    }
  };
  await readUntil('log.lines_lost');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  const lost = lines.pop();
  expect(lines.length).toBeGreaterThan(1_000);
  expect(lost).toMatchObject({ msg: 'log.lines_lost', lines: LINES - lines.length });
  // Reported once: lines that are read again do not count.
  for (const line of ['test.after', 'test.last']) {
    logger.info(line);
    await readUntil(line);
  }
  expect(text.match(/log\.lines_lost/g)).toHaveLength(1);
  await file.close();
});

it('writes everything that waits before the process ends, in any script, even if some is just being written', async () => {
  const path = join(folder, 'log.json');
  const file = await open(path, 'w');
  const logger = createLogger('info', null, { fd: file.fd });
  // More than is written at once, but less than twice as much: the rest waits for more.
  const words = Array.from({ length: 300 }, (_, n) => `${n} Łódź 東京 😀 ${'.'.repeat(60)}`);
  for (const word of words) logger.info({ word }, 'test.line');
  await new Promise((resolve) => logger.flush(resolve));
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line).word)).toEqual(words);
  await file.close();
});

it('where PostgreSQL fails every callback, only a few lines say where in the code: two stacks a line filled the disk', async () => {
  const path = join(folder, 'stacks.json');
  const file = await open(path, 'w');
  const logger = createLogger('info', null, { fd: file.fd });
  const cause = new Error('Connection terminated unexpectedly');
  for (let n = 0; n < 1_000; n += 1) {
    const err = new GatewayError('DATABASE_UNAVAILABLE', `PostgreSQL: ${cause.message}`, { cause });
    logger.warn({ err, operation: 'settle' }, 'callback.failed');
    logger.warn({ err: new OutOfTime(875), operation: 'place' }, 'callback.failed');
  }
  // A bug among them still shows its stack.
  logger.error({ err: new TypeError('ours'), operation: 'place' }, 'callback.failed');
  await new Promise((resolve) => logger.flush(resolve));
  await file.close();
  const text = await readFile(path, 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(2_001);
  expect(lines.filter((line) => line.includes('"stack"')).length).toBeLessThan(20);
  expect(lines[0]).toContain('"stack"');
  expect(lines.at(-1)).toContain('"stack"');
  for (const line of lines) expect(line).toMatch(/"message":"(PostgreSQL: Conn|gave up|ours)/);
  expect(text.match(/"message":"Connection terminated/g)).toHaveLength(1_000);
  expect(text.length).toBeLessThan(2_001 * 350);
});
