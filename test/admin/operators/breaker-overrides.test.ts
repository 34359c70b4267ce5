import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BreakerOverrides } from '../../../src/admin/operators/breaker-overrides.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { BreakerOverrideStore } from '../../../src/store/breaker-override-store.ts';
import { Database } from '../../../src/store/database.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createWallets, type Wallets } from '../../../src/wallets/wallets.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { partly } from '../../support/partly.ts';
import { onServer } from '../../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { walletConfig } from '../../wallets/support/calls.ts';

const WITHIN_A_FEW_LOOKS = { timeout: 15_000, interval: 20 };

let server: TestDatabase;
let proxy: TcpProxy;
let log: string[] = [];
const closers: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  server = await createDatabase();
  proxy = await startTcpProxy(server.url);
  log = [];
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await proxy.close();
  await server.drop();
});

/** The parts of one process. */
function replica(): { readonly overrides: BreakerOverrides; readonly wallets: Wallets } {
  const url = proxy.through(server.url);
  const logger = pino({ level: 'trace' }, { write: (line) => log.push(JSON.parse(line).msg) });
  const database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
  const wallets = createWallets({ metrics: createMetrics(), logger, clock: systemClock });
  wallets.apply([walletConfig('alpha', {})]);
  const store = new BreakerOverrideStore(database);
  const overrides = new BreakerOverrides({ store, wallets, logger });
  closers.push(async () => {
    overrides.close();
    await wallets.close();
    await database.close();
  });
  return { overrides, wallets };
}

const moneyState = ({ wallets }: { readonly wallets: Wallets }) =>
  wallets.get('alpha')?.breakerState('money');

it('opens a breaker here at once and in every other process soon', async () => {
  const [here, there] = [replica(), replica()];
  await Promise.all([here.overrides.start(), there.overrides.start()]);
  await here.overrides.set('alpha', 'money', 'open', BY);
  expect(moneyState(here)).toBe('open');
  expect(here.overrides.get('alpha', 'money')).toBe('open');
  await vi.waitFor(() => expect(moneyState(there)).toBe('open'), WITHIN_A_FEW_LOOKS);
  expect(there.wallets.get('alpha')?.breakerState('read')).toBe('closed');

  await there.overrides.set('alpha', 'money', 'auto', BY);
  await vi.waitFor(() => expect(moneyState(here)).toBe('closed'), WITHIN_A_FEW_LOOKS);
  expect(here.overrides.get('alpha', 'money')).toBe('auto');
});

it('holds after a restart, before the first call', async () => {
  const before = replica();
  await before.overrides.set('alpha', 'money', 'open', BY);
  const after = replica();
  await after.overrides.start();
  expect(moneyState(after)).toBe('open');
});

it('changes its mind as often as people do', async () => {
  const here = replica();
  await here.overrides.start();
  for (const state of ['open', 'closed', 'open', 'auto', 'auto'] as const) {
    await here.overrides.set('alpha', 'money', state, BY);
    expect(moneyState(here)).toBe(state === 'auto' ? 'closed' : state);
  }
});

it('holds reads and money apart: a word about one leaves the other as it is (I7)', async () => {
  const here = replica();
  await here.overrides.start();
  await here.overrides.set('alpha', 'money', 'open', BY);
  await here.overrides.set('alpha', 'read', 'open', BY);
  await here.overrides.set('alpha', 'read', 'auto', BY);
  expect(moneyState(here)).toBe('open');
  expect(here.overrides.get('alpha', 'money')).toBe('open');
  expect(here.overrides.get('alpha', 'read')).toBe('auto');
});

it('does not take a word back because of what was read before it', async () => {
  const read = Promise.withResolvers<never[]>();
  const told: string[] = [];
  const overrides = new BreakerOverrides({
    store: partly({ all: () => read.promise, write: async () => undefined }),
    wallets: { setOverride: (_, __, to) => void told.push(to) },
    logger: pino({ level: 'silent' }),
  });
  closers.push(() => overrides.close());
  const looked = overrides.start();
  await overrides.set('alpha', 'money', 'open', BY);
  read.resolve([]);
  await looked;
  expect([told, overrides.get('alpha', 'money')]).toEqual([['open'], 'open']);
});

it('is not misled by a row that means nothing', async () => {
  await onServer(server.url, (client) =>
    client.query(`INSERT INTO breaker_overrides VALUES ('alpha', 'monney', 'open'),
                                                       ('alpha', 'read', 'open')`),
  );
  const here = replica();
  await here.overrides.start();
  expect(moneyState(here)).toBe('closed');
  expect(here.wallets.get('alpha')?.breakerState('read')).toBe('open');
});

it('keeps what it knows while PostgreSQL is away, and says so once', async () => {
  const here = replica();
  await here.overrides.start();
  await here.overrides.set('alpha', 'money', 'open', BY);
  await proxy.cut();
  await expect(here.overrides.set('alpha', 'money', 'auto', BY)).rejects.toThrow('PostgreSQL');
  const failures = () => log.filter((line) => line === 'breaker_overrides.not_read').length;
  await vi.waitFor(() => expect(failures()).toBe(1), WITHIN_A_FEW_LOOKS);
  expect(moneyState(here)).toBe('open');

  await onServer(server.url, (client) => client.query('DELETE FROM breaker_overrides'));
  await proxy.restore();
  await vi.waitFor(() => expect(moneyState(here)).toBe('closed'), WITHIN_A_FEW_LOOKS);
  expect(failures()).toBe(1);
  expect(log).toContain('breaker_overrides.read_again');
});
