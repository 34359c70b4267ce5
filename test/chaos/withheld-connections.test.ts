import { expect, it, onTestFinished } from 'vitest';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import { startTestGateway } from '../support/gateway.ts';
import {
  type Manner,
  type WithheldConnections,
  withholdBeyond,
} from '../support/withheld-connections.ts';

const MANNERS: readonly (readonly [string, Manner])[] = [
  ['in silence', 'in silence'],
  ['by closing at once', 'by closing at once'],
  ['in silence after the login', 'after the login'],
  ['until a login of 5 s is over', 'after a slow login'],
  ['as PostgreSQL does', { sqlState: '53300', message: 'sorry, too many clients already' }],
  ['as PgBouncer does', { sqlState: '08P01', message: 'no more connections allowed' }],
  ['as pgpool does', { sqlState: '53300', message: 'Sorry, too many clients already' }],
  ['in words that nobody knows', { sqlState: 'XX000', message: 'all backends are busy' }],
];
const SLOWLY = statement(
  'slowly',
  { seconds: ['float8', (seconds: number) => seconds] },
  'SELECT FROM pg_sleep(:seconds)',
  noRow,
);

async function gatewayOn(given: number, manner: Manner) {
  const proxies: WithheldConnections[] = [];
  const gateway = await startTestGateway({
    worker: true,
    through: async ({ databaseUrl, redisUrl }) => {
      const proxy = await withholdBeyond(given, manner, databaseUrl);
      proxies.push(proxy);
      return { databaseUrl: proxy.url, redisUrl };
    },
  });
  onTestFinished(async () => {
    await gateway.close();
    for (const proxy of proxies) await proxy.close();
  });
  return { gateway, withheld: () => proxies.reduce((sum, proxy) => sum + proxy.withheld, 0) };
}

async function together<T>(count: number, use: () => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, use));
}

const kinds = (answers: readonly { readonly kind: string }[]) =>
  new Set(answers.map(({ kind }) => kind));

it.each(MANNERS.flatMap(([how, manner]) => [13, 1].map((given) => [how, given, manner] as const)))(
  'a process goes on with the connections that it has if the next one is withheld %s (beyond %i; I1, I3)',
  { timeout: 60_000 },
  async (_, given, manner) => {
    const { gateway, withheld } = await gatewayOn(given, manner);
    const { service, parts } = gateway;
    // One kind of statements takes all of them.
    const seconds = given === 1 ? 0.05 : 0.5;
    await together(10, () => parts.database.run(SLOWLY, seconds));
    await together(8, () => parts.journalDatabase.run(SLOWLY, seconds));
    expect(withheld()).toBeGreaterThan(0);

    const player = await gateway.player({ balance: '1000' });
    const api = gateway.operator('alpha');
    onTestFinished(() => api.close());
    const placed = await together(10, () => service.place({ ...player, amount: '1' }));
    expect(kinds(placed)).toEqual(new Set(['accepted']));
    const [settled, read] = await Promise.all([
      Promise.all(
        placed.map((bet) => service.settle(bet.transactionId, { amount: '2', resultType: 'won' })),
      ),
      together(5, () => service.balance(player)),
    ]);
    expect(kinds(settled)).toEqual(new Set(['confirmed']));
    expect(new Set(read.map(({ status }) => status))).toEqual(new Set([200]));
    // Operators' reads are of a third kind.
    expect((await api.bet(placed[0]?.transactionId ?? '')).status).toBe(200);
    expect(gateway.wallet('alpha').balance(player.user, 'USD')).toBe('1010');
  },
);
