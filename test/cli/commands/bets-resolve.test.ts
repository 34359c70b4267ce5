import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { betInDoubt } from '../../money-safety/support/bets.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { wagergate } from '../support/command-line.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const RECORD = ['--by', 'Ann, OPS-17', '--reason', 'their support says so'];
const RESULT = ['--holds', 'result', '--amount', '20', '--result-type', 'won'];
const resolve = (...args: readonly string[]) => {
  const files = { 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': operatorYaml('alpha') };
  const env = { DATABASE_URL: gateway.databaseUrl, GATEWAY_CONFIG: folderWith(files) };
  return wagergate(['bets', 'resolve', ...args], { env });
};

describe('wagergate bets resolve', () => {
  it('records the result that the wallet holds, once', async () => {
    const { transactionId } = await betInDoubt(gateway);
    expect(await resolve(transactionId, ...RESULT, ...RECORD)).toEqual({
      code: 0,
      stdout: `bet ${transactionId}: its result is won 20\n`,
      stderr: '',
    });
    expect(await resolve(transactionId, ...RESULT, ...RECORD)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: bet ${transactionId} stays as it is. The result of the bet is not unknown\n`,
    });
  });

  it('records that it holds the stake only', async () => {
    const { transactionId } = await betInDoubt(gateway);
    expect(await resolve(transactionId, '--holds', 'stake', ...RECORD)).toEqual({
      code: 0,
      stdout: `bet ${transactionId}: it has no result; the stake is in play\n`,
      stderr: '',
    });
  });

  it('waits as long as a wallet may be late by any configuration where it can read none', async () => {
    const { transactionId } = await betInDoubt(gateway);
    const nowhere = ['--folder', folderWith({})];
    const ran = await resolve(transactionId, '--holds', 'stake', ...RECORD, ...nowhere);
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toMatch(
      /^warning: .* is not valid .*: any wallet may be late for ten days\n/,
    );
    expect(ran.stderr).toContain('A lost call may still take effect at the wallet, until 20');
  });

  it.each([
    [
      ['x', ...RESULT, ...RECORD],
      1,
      'no bet x: `wagergate bets search --state settlement_unknown`',
    ],
    [['x', ...RECORD], 2, "required option '--holds <what>' not specified"],
    [['x', '--holds', 'result', ...RECORD], 2, 'say which result the wallet holds'],
    [['x', '--holds', 'stake', '--amount', '5', ...RECORD], 2, 'go with --holds result'],
    [
      ['x', '--holds', 'result', '--amount', '5,00', ...RECORD],
      2,
      'must be an amount such as 12.50',
    ],
    [['x', ...RESULT, '--by', 'Ann'], 2, '--reason'],
    [['x', ...RESULT, '--by', 'Ann', '--reason', ' '], 2, '--reason is empty'],
  ])('does not guess what %j means', async (args, code, why) => {
    const ran = await resolve(...args);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(why);
  });
});
