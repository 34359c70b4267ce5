import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { wagergate } from '../support/command-line.ts';

let gateway: TestGateway;
let bet: TestBet;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  gateway = await startTestGateway();
  bet = await placedBet(gateway, { player: await gateway.player({ user: 'jane' }) });
  env = {
    DATABASE_URL: gateway.databaseUrl,
    GATEWAY_CONFIG: gateway.configFolder,
    SERVICE_SECRET: 'the-services-secret',
  };
});
afterAll(() => gateway.close());

const run = (...args: readonly string[]) => wagergate(args, { env });

describe('what people do with players at the command line', () => {
  it('finds their bets', async () => {
    const { userId } = bet.player;
    for (const which of [
      ['--user-id', userId],
      ['--operator-user', 'jane'],
      ['--state', 'accepted'],
    ]) {
      const found = await run('bets', 'search', ...which, '--json');
      expect(JSON.parse(found.stdout)).toMatchObject({
        items: [{ transactionId: bet.transactionId, operatorUser: 'jane', userId }],
        nextCursor: null,
      });
    }
    expect((await run('bets', 'search')).stdout).toContain(bet.transactionId);
    expect((await run('bets', 'search', '--state', 'unknown')).stderr).toBe('no such bets\n');
  });

  it('are told of a typo in the operator before they tell a player that there is no such bet', async () => {
    const found = await run('bets', 'search', '--operator', 'alhpa', '--operator-user', 'jane');
    expect(found.stderr).toBe(
      'no such bets\nwarning: no file of operator alhpa in the configuration\n',
    );
  });

  it('exports them, and forgets them once nothing is open, each on record (I12)', async () => {
    const { userId } = bet.player;
    const exported = await run('players', 'export', userId, '--reason', 'DSR 1');
    const lines = exported.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ player: { userId } }, { bet: { state: 'accepted' } }]);

    const early = await run('players', 'forget', userId, '--reason', 'DSR 2');
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining(bet.transactionId) });
    const wordless = await run('players', 'forget', userId, '--reason', ' ');
    expect([wordless.code, wordless.stderr]).toEqual([
      2,
      'error: --reason is empty: it is kept for the record\n',
    ]);
    await bet.settle('10');
    const done = await run('players', 'forget', userId, '--reason', 'DSR 2', '--json');
    expect(JSON.parse(done.stdout)).toEqual({ bets: 1, messages: 2, attempts: 2 });

    expect((await run('players', 'forget', 'nobody', '--reason', 'x')).code).toBe(1);
    expect((await run('players', 'export', 'nobody')).code).toBe(1);
    const audit = JSON.parse((await run('audit', 'list', '--json')).stdout);
    expect(audit.items).toMatchObject([
      { action: 'player.forgotten', subject: `player ${userId}`, reason: 'DSR 2' },
      { action: 'player.exported', subject: `player ${userId}`, reason: 'DSR 1' },
    ]);
  });

  it('exports them without control characters, whoever wrote them', async () => {
    const player = await gateway.player();
    const said = 'paid \u{202e}001\u{9b}2J';
    gateway
      .wallet('alpha')
      .misbehave('place', { kind: 'code', code: 7, message: said }, { calls: 1 });
    await gateway.service.place({ ...player, amount: '1' });
    const exported = await run('players', 'export', player.userId, '--reason', said);
    const audit = await run('audit', 'export', '--action', 'player.exported');
    for (const { stdout } of [exported, audit]) {
      expect(stdout).not.toMatch(/[\u{202e}\u{9b}]/u);
      const texts = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.stringify(JSON.parse(line)));
      expect(texts.join()).toContain(said);
    }
  });
});
