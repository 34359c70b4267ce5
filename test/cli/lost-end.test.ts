import { expect, it, onTestFinished } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { spawnWagergate } from './support/command-line.ts';

it('a command ends although the network swallows the end of its connection', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const { hostname, port } = new URL(database.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.close());
  const through = new URL(database.url);
  through.port = String(proxy.port);
  const listing = proxy.holdAnswer('FROM books_days d');
  const running = spawnWagergate(['books', 'days'], { env: { DATABASE_URL: through.href } });
  await listing.answered;
  // The answer still comes through, and nothing after it.
  listing.release();
  proxy.strand();
  expect(await running).toMatchObject({ code: 0 });
});
