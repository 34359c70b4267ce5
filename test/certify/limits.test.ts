import { describe, expect, it } from 'vitest';
import { percentile } from '../../src/certify/cases/latency.ts';
import { walletSettings } from '../wallets/support/calls.ts';
import { certification, ids, SECRET, sandbox } from './support/certification.ts';
import { shiftsDuplicates } from './support/flawed-wallets.ts';

describe('latency', () => {
  it.each([
    ['a warning', { warnMs: 40, failMs: 60_000 }, 'warned'],
    ['a failure', { warnMs: 20, failMs: 40 }, 'failed'],
  ] as const)('above the limit is %s, with the figures', async (_what, limits, verdict) => {
    const wallet = await sandbox();
    for (const operation of ['balance', 'place'] as const) {
      wallet.misbehave(operation, { kind: 'delay', ms: 60 });
    }
    const certificate = await certification(wallet, { only: ['latency'], limits });
    expect(ids(certificate, verdict)).toEqual([
      'latency-balance-10',
      'latency-balance-50',
      'latency-one-by-one',
      'latency-place-10',
      'latency-place-50',
    ]);
    const found = certificate.cases.find(({ id }) => id === 'latency-balance-50');
    expect(found?.reasons[0]).toMatch(
      /^50 balances at once: p50 \d+ ms, p95 \d+ ms, slowest \d+ ms: above \d+ ms$/,
    );
  });

  it('has the limit of the gateway that will call: an answer that comes later is none to it', async () => {
    const wallet = await sandbox();
    wallet.misbehave('place', { kind: 'delay', ms: 1500 });
    const { baseUrl } = wallet;
    const only = ['latency-one-by-one', 'place-enough'] as const;
    const settings = walletSettings({ baseUrl, secrets: [SECRET], timeoutMs: 600 });
    const certificate = await certification(wallet, { only, limits: {}, settings });
    expect(ids(certificate, 'failed')).toEqual(['latency-one-by-one', 'place-enough']);
    expect(certificate.verdict).toBe('not_fit');
  });

  it('is reported by the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, at) => at + 1);
    expect([0.5, 0.95, 1].map((share) => percentile(hundred, share))).toEqual([50, 95, 100]);
    expect(percentile([7], 0.5)).toBe(7);
  });
});

describe('a wallet that falls silent', () => {
  it('is given up after a dozen calls, and failed', async () => {
    const wallet = await sandbox();
    wallet.misbehave('place', { kind: 'hang' });
    const only = ['signatures', 'place'] as const;
    const certificate = await certification(wallet, { limits: { callMs: 600 }, only });
    expect(certificate).toMatchObject({ verdict: 'not_fit', ending: 'silent', complete: false });
    expect(certificate.counts.skipped).toBeGreaterThan(10);
    const last = certificate.cases.at(-1);
    expect(last?.reasons).toEqual([
      'too many calls were left without an answer: not asked further',
    ]);
    const first = certificate.cases.find(({ id }) => id === 'signature-good');
    expect(first?.reasons.join()).toContain('no answer (no answer within');
  });

  it('that breaks connections is given up as well', async () => {
    const wallet = await sandbox();
    wallet.misbehave('settle', { kind: 'reset' });
    const certificate = await certification(wallet, { only: ['settle'] });
    expect(certificate).toMatchObject({ verdict: 'not_fit', ending: 'silent', complete: false });
    expect(wallet.balance('ann', 'USD')).toBe('1000');
  });
});

describe('a run that is stopped', () => {
  it('rolls back its open bets, and keeps what it has found', async () => {
    const wallet = await sandbox();
    const controller = new AbortController();
    // In the middle of a case: the bet is placed, and its settle is under way.
    const gate = wallet.hold('settle');
    const running = certification(wallet, { signal: controller.signal });
    await gate.arrived;
    expect([...wallet.bets.values()].some(({ status }) => status === 'waiting')).toBe(true);
    const before = wallet.requests.length;
    controller.abort(new Error('enough'));
    gate.release();
    const { ending, verdict, complete, cases, counts } = await running;
    // Open bets are rolled back, and the balance is read once more: nothing else is sent.
    const asked = wallet.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(asked.slice(0, -1))).toEqual(new Set(['PUT /sportsbook/payment/bet']));
    expect(asked.at(-1)).toBe('POST /sportsbook/user/balance');
    expect({ ending, verdict, complete }).toEqual({
      ending: 'interrupted',
      verdict: 'not_fit',
      complete: false,
    });
    expect(counts.passed).toBeGreaterThan(0);
    expect(counts.failed).toBe(0);
    expect(cases.at(-1)?.reasons).toEqual(['stopped before it began']);
    expect(wallet.balance('ann', 'USD')).toBe('1000');
  });

  it('says so too where that was while it tried a dialect, or looked at the money at the end', async () => {
    const whileTrying = await sandbox(shiftsDuplicates(9));
    const stop = new AbortController();
    const tried = await certification(whileTrying, {
      signal: stop.signal,
      only: ['place'],
      onProgress: ({ kind }) => {
        if (kind === 'verifying') stop.abort(new Error('enough'));
      },
    });
    expect(tried).toMatchObject({ ending: 'interrupted', verdict: 'not_fit', suggestions: [] });
    expect(tried.summary).toContain('the run was stopped before its end');
    expect(tried.withheld[0]?.why).toContain('the run had to end before that');
    expect(whileTrying.balance('ann', 'USD')).toBe('1000');
    const late = new AbortController();
    let balances = 0;
    const atTheEnd = await sandbox({
      rewrite: (answer, { operation }) => {
        balances += operation === 'balance' ? 1 : 0;
        // One before the first case, one after the last.
        if (balances === 2) late.abort(new Error('enough'));
        return answer;
      },
    });
    const only = ['profile-user'];
    const looked = await certification(atTheEnd, { signal: late.signal, only });
    expect(looked).toMatchObject({ ending: 'interrupted', complete: false });
  });
});
