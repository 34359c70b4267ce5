import { describe, expect, it } from 'vitest';
import { CASES } from '../../src/certify/cases/index.ts';
import { GROUPS } from '../../src/certify/certificate/certificate.ts';
import { certification, ids, PLAYER, sandbox } from './support/certification.ts';
import { blocksResettles } from './support/flawed-wallets.ts';
import { declined, flawed } from './support/mistake.ts';
import { neverBelowZero, refusesFractions } from './support/quiet-mistakes.ts';

describe('the cases', () => {
  it('are more than a hundred, each with an id of its own and the rule it comes from', () => {
    expect(CASES.length).toBeGreaterThan(100);
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
    for (const { id, rule, title, expected, advice } of CASES) {
      expect(id).toMatch(/^[a-z]+(-[a-z0-9]+)+$/);
      // In words: readers of the report do not have the repository.
      expect(rule).toMatch(/^[A-Z].{30,}\.$/);
      expect(rule).not.toMatch(/\.md\b/);
      expect(advice).toMatch(/^[A-Z].{15,}\.$/);
      expect(title.length).toBeGreaterThan(10);
      expect(expected).not.toBe('');
    }
  });

  it('are in the order of the groups', () => {
    expect([...new Set(CASES.map(({ group }) => group))]).toEqual(GROUPS);
  });
});

describe('a wallet that keeps the protocol', () => {
  it('passes every case, and has its money as before', async () => {
    const wallet = await sandbox();
    const certificate = await certification(wallet);
    expect({
      failed: ids(certificate, 'failed'),
      warned: ids(certificate, 'warned'),
      skipped: ids(certificate, 'skipped'),
    }).toEqual({
      failed: [],
      warned: [],
      skipped: ['place-beside-other-player', 'place-other-token', 'settle-cashout-other-token'],
    });
    expect(certificate).toMatchObject({
      verdict: 'fit',
      summary: 'Fit: the gateway can call this wallet as it is.',
      findings: [],
      ending: 'finished',
      complete: true,
      counts: { passed: CASES.length - 3 },
      money: { before: '1000', after: '1000', difference: '0' },
      sandbox: { isTest: true, overridden: false },
      suggestions: [],
      withheld: [],
      verification: null,
    });
    expect(wallet.balance('ann', 'USD')).toBe('1000');
    expect(wallet.balance('ann', 'EUR')).toBe('50');
    const open = [...wallet.bets.values()].filter(({ status }) => status === 'waiting');
    expect(open).toEqual([]);
  });

  it('may refuse fractions of a currency that has no cents', async () => {
    const token = 'ann-jpy-token';
    const ann = { balances: { JPY: '100000' }, tokens: { [token]: 'JPY' } };
    const wallet = await sandbox(refusesFractions, ann);
    const player = { ...PLAYER, token, currency: 'JPY' };
    const certificate = await certification(wallet, {
      ...{ player, currencies: ['JPY'], only: ['currencies', 'place', 'settle'] },
    });
    expect(ids(certificate, 'failed')).toEqual([]);
    expect(ids(certificate, 'skipped')).toEqual([
      'currency-exact-payout',
      'currency-exact-sums',
      'currency-odd-cents',
      'currency-trailing-zero',
      'place-beside-other-player',
      'place-other-token',
      'settle-cashout-other-token',
    ]);
    expect(certificate.verdict).toBe('fit');
  });

  it('passes in another currency, beside a real second player', async () => {
    const wallet = await sandbox(
      {},
      { balances: { EUR: '123.45' }, tokens: { 'ann-eur-token': 'EUR' } },
    );
    wallet.addPlayer({
      user: 'bob',
      isTest: true,
      balances: { EUR: '70' },
      tokens: { 'bob-eur-token': 'EUR' },
    });
    const certificate = await certification(wallet, {
      player: { ...PLAYER, token: 'ann-eur-token', currency: 'EUR' },
      other: { userId: 'bob', token: 'bob-eur-token' },
    });
    expect({
      failed: ids(certificate, 'failed'),
      warned: ids(certificate, 'warned'),
      skipped: ids(certificate, 'skipped'),
      money: certificate.money,
    }).toEqual({
      failed: [],
      warned: [],
      skipped: [],
      money: { before: '123.45', after: '123.45', difference: '0' },
    });
    expect(wallet.balance('bob', 'EUR')).toBe('70');
  });

  it('is judged on the groups asked for alone', async () => {
    const certificate = await certification(await sandbox(), { only: ['profile', 'shape'] });
    expect(new Set(certificate.cases.map(({ group }) => group))).toEqual(
      new Set(['profile', 'shape']),
    );
    expect(certificate).toMatchObject({ verdict: 'fit', complete: false });
  });

  it('is judged on a single case, and one on answers gets some to judge', async () => {
    const one = await certification(await sandbox(), { only: ['rollback-twice'] });
    expect(one.cases.map(({ id }) => id)).toEqual(['rollback-twice']);
    const judged = await certification(await sandbox(), { only: ['shape-success-status'] });
    expect(judged.cases.map(({ id }) => id)).toEqual(['shape-journey', 'shape-success-status']);
  });

  it('may confirm a rollback that it has done before by code 8', async () => {
    const wallet = await sandbox(
      flawed((call, books) =>
        call.operation === 'rollback' && books.bet(call.transactionId)?.status === 'rolled_back'
          ? declined(8)
          : undefined,
      ),
    );
    const { findings } = await certification(wallet, { only: ['rollback', 'unsettle'] });
    expect(findings).toEqual([]);
  });

  it('may refuse by code 21 to lower a payout that was spent', async () => {
    const wallet = await sandbox(neverBelowZero('settle', 21));
    const { findings, cases } = await certification(wallet, { only: ['settle'] });
    expect(findings).toEqual([]);
    const spent = cases.find(({ id }) => id === 'resettle-spent-payout');
    expect(spent?.reasons.join()).toContain('does not change results: code 21');
  });

  it('may refuse to change results, with code 20', async () => {
    const certificate = await certification(await sandbox(blocksResettles), { only: ['settle'] });
    expect(ids(certificate, 'failed')).toEqual([]);
    const up = certificate.cases.find(({ id }) => id === 'resettle-up');
    expect(up?.reasons.join()).toContain('does not change results');
  });
});
