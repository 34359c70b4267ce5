import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wagergate } from '../../cli/support/command-line.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { around, csvOf, HEADER, kindsOf, type Listed, listOf, reconcile } from './support/lists.ts';

let gateway: TestGateway;
let bets: Record<'won' | 'lost' | 'open' | 'undone' | 'paid' | 'extra', TestBet>;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: {}, beta: {} },
    gateway: { delivery: { minBackoffMs: 20, maxBackoffMs: 40 } },
  });
  const placed = (amount: string) => placedBet(gateway, { amount });
  bets = {
    won: await placed('10'),
    lost: await placed('12.10'),
    open: await placed('5'),
    undone: await placed('7'),
    paid: await placed('3.5'),
    extra: await placed('1'),
  };
  await bets.won.settle('20.50');
  await bets.lost.settle('0', 'lost');
  await bets.undone.settle('9');
  await bets.undone.rollback();
  await bets.paid.settle('7');
  await bets.extra.settle('2');
});
afterAll(() => gateway.close());

const honest = () => listOf(gateway.wallet('alpha'));

/** The honest list with one bet's line changed or removed. */
function damaged(bet: TestBet, change: (line: Listed) => readonly Listed[]): Listed[] {
  return honest().flatMap((line) =>
    line.transactionId === bet.transactionId ? change(line) : [line],
  );
}

describe('a list is compared with the journal (I9)', () => {
  it('agrees with the wallet’s own books, and exits with 0', async () => {
    const { code, told, stderr } = await reconcile(gateway, csvOf(honest()));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(told?.counts).toEqual({
      agree: 6,
      missing_there: 0,
      missing_here: 0,
      amount_differs: 0,
      state_differs: 0,
      currency_differs: 0,
      duplicate_there: 0,
      unreadable: 0,
    });
    expect(told?.differences).toEqual([]);
  });

  it('finds exactly what was planted: missing, paid twice, a cent off, rolled back on one side', async () => {
    const { transactionId } = bets.won;
    const list = honest().flatMap((line): Listed[] => {
      if (line.transactionId === bets.won.transactionId) return [];
      if (line.transactionId === bets.paid.transactionId) return [{ ...line, payout: '14' }];
      if (line.transactionId === bets.lost.transactionId) return [{ ...line, stake: '12.11' }];
      if (line.transactionId === bets.undone.transactionId) {
        return [{ ...line, state: 'settled', payout: '9' }];
      }
      if (line.transactionId === bets.open.transactionId) {
        return [{ ...line, state: 'rolled_back' }];
      }
      return [line];
    });
    const { code, told } = await reconcile(gateway, csvOf(list));
    expect(code).toBe(3);
    expect(kindsOf(told)).toEqual(
      [
        `missing_there ${transactionId}`,
        `amount_differs ${bets.paid.transactionId}`,
        `amount_differs ${bets.lost.transactionId}`,
        `state_differs ${bets.undone.transactionId}`,
        `state_differs ${bets.open.transactionId}`,
      ].sort(),
    );
    expect(told?.counts).toMatchObject({ agree: 1, amount_differs: 2, state_differs: 2 });
    const words = (bet: TestBet) =>
      told?.differences.find((one) => one.transactionId === bet.transactionId);
    expect(words(bets.paid)).toMatchObject({
      here: { currency: 'USD', stake: '3.5', payout: '7', state: 'settled' },
      there: { currency: 'USD', stake: '3.5', payout: '14', state: 'settled' },
    });
    expect(words(bets.undone)).toMatchObject({
      here: { state: 'rolled_back', payout: '0' },
      there: { state: 'settled', payout: '9' },
      reason: expect.stringContaining('the wallet confirmed its rollback'),
    });
    expect(words(bets.won)).toMatchObject({ there: null, line: null });
  });

  it('tells a bet that is there twice, once, and compares the others', async () => {
    const list = damaged(bets.won, (line) => [line, { ...line, payout: '20.50' }]);
    const { told } = await reconcile(gateway, csvOf(list));
    expect(kindsOf(told)).toEqual([`duplicate_there ${bets.won.transactionId}`]);
    expect(told?.differences[0]?.there).toMatchObject({ copies: 2, payout: '20.5' });
    expect(told?.counts.agree).toBe(5);
  });

  it('reports another currency, and a bet that is unknown here', async () => {
    // With what means a line break, a missing value and the end of data in PostgreSQL's own text format.
    const transactionId = String.raw`nobody\nknows\N\.it`;
    const strange = { ...(honest()[0] as Listed), transactionId };
    const list = [...damaged(bets.won, (line) => [{ ...line, currency: 'EUR' }]), strange];
    const { told } = await reconcile(gateway, csvOf(list));
    expect(kindsOf(told)).toEqual([
      `currency_differs ${bets.won.transactionId}`,
      `missing_here ${transactionId}`,
    ]);
    expect(told?.differences.find(({ kind }) => kind === 'missing_here')?.here).toBeNull();
  });

  it('says nothing about a bet of another operator (I8)', async () => {
    const foreign = await placedBet(gateway, { operatorId: 'beta', amount: '4' });
    const [line] = listOf(gateway.wallet('beta'));
    const { told, stdout } = await reconcile(gateway, csvOf([...honest(), line as Listed]));
    expect(kindsOf(told)).toEqual([`missing_here ${foreign.transactionId}`]);
    expect(told?.differences[0]).toMatchObject({ here: null, reason: null });
    expect(stdout).not.toContain('beta');
  });

  it('reports an id that cannot be stored as an unreadable line, and compares the others', async () => {
    const ndjson = [
      ...honest().map((line) => JSON.stringify(line)),
      JSON.stringify({ ...honest()[0], transactionId: 'a\u0000b', stake: [1] }),
      JSON.stringify({ ...honest()[0], transactionId: 'x'.repeat(9_000), stake: [1] }),
    ];
    const { code, told, stderr } = await reconcile(gateway, ndjson.join('\n'));
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(told?.counts).toMatchObject({ agree: 6, unreadable: 2 });
    expect(kindsOf(told)).toEqual(['unreadable null', 'unreadable null']);
  });

  it('reads gzip, NDJSON, semicolons, quotes, CRLF and a byte order mark alike', async () => {
    const csv = csvOf(honest());
    const cells = csv
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    const ndjson = honest()
      .map((line) => JSON.stringify(line))
      .join('\n');
    const quoted = cells.map((line) => line.map((cell) => `"${cell}"`).join(';')).join('\r\n');
    const lists = [gzipSync(csv), ndjson, `\u{feff}${quoted}`];
    for (const list of lists) {
      const { code, told } = await reconcile(gateway, list);
      expect({ code, agree: told?.counts.agree }).toEqual({ code: 0, agree: 6 });
    }
  });

  it('tells people what was compared, each difference in a line, and how many more there are', async () => {
    const strangers = Array.from({ length: 12 }, (_, at) => `nobody-${at + 10},USD,1,0,placed`);
    const list = damaged(bets.lost, (line) => [
      { ...line, payout: '1', transactionId: line.transactionId },
    ]);
    const args = ['--operator', 'alpha', '--from', around(0), '--to', around(0), '--file', '-'];
    const env = {
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET: 'the-services-secret',
    };
    const ask = (stdin: string) => wagergate(['reconcile', ...args], { env, stdin });
    const { stdout, code } = await ask(`${csvOf(list)}${strangers.join('\n')}`);
    expect(code).toBe(3);
    const { transactionId } = bets.lost;
    expect(stdout).toContain(
      `: alpha, ${around(0)} (UTC), 19 lines, compared ${HEADER.replaceAll(',', ', ')}\n`,
    );
    expect(stdout).toMatch(/^agree +5$/m);
    expect(stdout).toMatch(/^missing_here +12 +12$/m);
    expect(stdout).toMatch(
      new RegExp(
        `^  \\[\\d+\\] ${transactionId} \\(line \\d\\): here settled stake 12.1 payout 0 USD, ` +
          'there settled stake 12.1 payout 1 USD: the wallet confirmed its result',
        'm',
      ),
    );
    expect(stdout).toContain('  and 2 more: see them with --json\n');
    // Bets that all differ are known all the same.
    const differs = `${HEADER}\n${transactionId},USD,11,0,settled\n${strangers[0]}`;
    const unknown = 'nothing of the list is known here';
    expect((await ask(differs)).stderr).not.toContain(unknown);
    expect((await ask(`${HEADER}\n${strangers[0]}`)).stderr).toContain(unknown);
  });

  it('takes the list’s own names of columns', async () => {
    const csv = csvOf(honest()).replace(HEADER, 'Bet ID,cur,stake,win,state');
    const more = ['--columns', 'transactionId=Bet ID,currency=cur,payout:win'];
    expect((await reconcile(gateway, csv, { more })).told?.counts.agree).toBe(6);
    const wrong = await reconcile(gateway, csv, { more: ['--columns', 'transactionId=bet_id'] });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('"bet_id"') });
    expect(wrong.stderr).toContain('"Bet ID"');
  });
});

describe('lines that cannot be read', () => {
  it('are reported with their number, and their bets are not missing', async () => {
    const [first, ...rest] = csvOf(honest()).trimEnd().split('\n').slice(1);
    const broken = [
      HEADER,
      first?.replace('10,', '"1,000",'),
      ',USD,1,1,placed',
      'a,b',
      '"forgotten,USD,1,1,placed',
      `x,USD,1,1,won`,
      'x,USD,1,1,w\0n',
      'x,U\0D,1,1,won',
      'x,USD,\0,1,won',
      ...rest,
    ].join('\n');
    const { code, told } = await reconcile(gateway, broken);
    expect(code).toBe(3);
    expect(told?.counts).toMatchObject({ agree: 5, unreadable: 8, missing_there: 0 });
    expect(told?.differences.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'stake "1,000" may be a fraction or thousands: write the point of decimals'],
      [3, 'transactionId is empty'],
      [4, 'has 2 fields where the first line has 5'],
      [5, 'a quote is not closed, or stands inside a field'],
      [6, 'state "won" is none of placed, settled, rolled_back'],
      [7, String.raw`state "w\u0000n" is none of placed, settled, rolled_back`],
      [8, String.raw`currency "U\u0000D" is none`],
      [9, String.raw`stake "\u0000" is no amount`],
    ]);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['is empty', '', /empty/],
    ['has no column of transactionIds', 'a,b\n1,2\n', /no column "transactionId"/],
    ['has none among thousands', `${HEADER}\n${'x\n'.repeat(3_000)}`, /line 2: has 1 fields/],
    ['names its columns with a NUL', '{"a\\u0000":1}\n', /no column "transactionId".*"a\\u0000"/],
    ['is a gzip that was cut off', gzipSync('x'.repeat(9_999)).subarray(0, 30), /gzip is cut off/],
    [
      'has two columns of one name',
      'transactionId,stake,Stake\nx,1,1\n',
      /2 columns could be stake/,
    ],
  ])('a list that %s is not compared: exit 1', async (_, list, why) => {
    const { code, stdout, stderr } = await reconcile(gateway, list);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: could not compare: .*\n$/);
    expect(stderr).toMatch(why);
  });

  it('a missing file is not compared, and an invalid day is not accepted', async () => {
    const env = {
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET: 'the-services-secret',
    };
    const args = ['reconcile', '--operator', 'alpha', '--file', '/nowhere/theirs.csv'];
    const ran = await wagergate([...args, '--from', around(0), '--to', around(0)], { env });
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: could not compare: /nowhere/theirs.csv does not exist\n',
    });
    for (const days of [
      ['--from', 'yesterday', '--to', around(0)],
      ['--from', around(1), '--to', around(0)],
    ]) {
      expect((await wagergate([...args, ...days], { env })).code).toBe(2);
    }
  });

  it('an unknown operator is not compared', async () => {
    const { code, stderr } = await reconcile(gateway, csvOf(honest()), { operator: 'alhpa' });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('alhpa') });
  });
});
