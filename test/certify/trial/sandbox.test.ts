import { describe, expect, it } from 'vitest';
import { Refused } from '../../../src/certify/certification.ts';
import type { PlayerSeed } from '../../../tools/simulator/wallet/players.ts';
import { certification, ids, PLAYER, sandbox, type Wishes } from '../support/certification.ts';

/** The refusal's text, and what had reached the wallet by then. */
async function refusal(ann: Partial<PlayerSeed>, wishes: Wishes = {}) {
  const wallet = await sandbox({}, ann);
  const error = await certification(wallet, wishes).catch((thrown: unknown) => thrown);
  if (!(error instanceof Refused)) throw new Error(`not refused: ${String(error)}`);
  return { message: error.message, wallet };
}

describe('a wallet that is not marked as a sandbox', () => {
  it('is not touched', async () => {
    const { message, wallet } = await refusal({ isTest: false });
    expect(message).toMatch(/isTest: true.*--i-know/);
    expect(wallet.bets.size).toBe(0);
    expect(wallet.requests.every(({ path }) => path.includes('/user/'))).toBe(true);
  });

  it('is not touched for another player than the one of the token', async () => {
    const { message, wallet } = await refusal({}, { player: { ...PLAYER, userId: 'somebody' } });
    expect(message).toContain('the token is not of somebody');
    expect(wallet.requests.length).toBe(1);
  });

  it('is told that its profile has no userId, and sees the answer', async () => {
    const wallet = await sandbox({
      rewrite: (answer) => ({ ...answer, body: `{"data":${answer.body}}` }),
    });
    const { verdict, ending, findings } = await certification(wallet);
    expect({ verdict, ending }).toEqual({ verdict: 'not_fit', ending: 'not_begun' });
    expect(findings[0]?.what).toBe('the profile has no userId: HTTP 200');
    expect(wallet.requests.length).toBe(1);
  });

  it('is not fit where its players have ids that the gateway refuses', async () => {
    const userId = 'ann@casino.example';
    const wallet = await sandbox({}, { user: userId });
    const wishes = { player: { ...PLAYER, userId }, only: ['profile-user'] };
    const { verdict, findings } = await certification(wallet, wishes);
    expect(verdict).toBe('not_fit');
    expect(findings).toMatchObject([
      { case: 'profile-user', what: `the gateway takes no userId like ${userId}` },
    ]);
  });

  it('is certified when somebody knows what they do, and the certificate says so', async () => {
    const warnings: string[] = [];
    const certificate = await certification(await sandbox({}, { isTest: false }), {
      iKnow: true,
      only: ['profile', 'place'],
      onProgress: (event) => {
        if (event.kind === 'warning') warnings.push(event.text);
      },
    });
    expect(certificate).toMatchObject({
      verdict: 'fit',
      sandbox: { isTest: false, overridden: true },
    });
    expect(warnings).toEqual([expect.stringContaining('real money may move')]);
  });

  it('is paid nothing large: a real player could take it away before it is taken back', async () => {
    const wallet = await sandbox({}, { isTest: false });
    const only = ['settle-large-payout', 'currency-thousands'] as const;
    const { cases } = await certification(wallet, { iKnow: true, only });
    const skipped = { verdict: 'skipped', reasons: [expect.stringContaining('isTest: true')] };
    expect(cases).toMatchObject([skipped, skipped]);
    expect(wallet.bets.size).toBe(0);
  });
});

describe('a wallet that cannot be examined', () => {
  it('is not touched when the profile is not given', async () => {
    const wallet = await sandbox();
    const player = { ...PLAYER, token: 'no-such-token' };
    const certificate = await certification(wallet, { player });
    expect(certificate).toMatchObject({ verdict: 'not_fit', ending: 'not_begun' });
    expect(certificate.findings).toEqual([
      expect.objectContaining({
        case: 'first-profile',
        what: expect.stringMatching(/not given: HTTP 400 with code 3, the token is unknown/),
      }),
    ]);
    expect(wallet.bets.size).toBe(0);
  });

  it('is not touched when it does not answer', async () => {
    const wallet = await sandbox();
    await wallet.down();
    const certificate = await certification(wallet);
    expect(certificate).toMatchObject({
      verdict: 'not_fit',
      ending: 'not_begun',
      money: { after: null },
    });
    expect(certificate.findings[0]?.what).toMatch(/not given: no answer.*(?:ECONNREFUSED|EPIPE)/);
    expect(certificate.cases[0]?.script).toContain('curl -sS');
  });

  it('is not touched when the player has too little money', async () => {
    const { message, wallet } = await refusal({ balances: { USD: '99.99' } });
    expect(message).toBe('ann has 99.99 USD: give the test player at least 100');
    expect(wallet.bets.size).toBe(0);
  });

  it('is judged on reads alone when it does not tell the balance', async () => {
    const wallet = await sandbox();
    wallet.misbehave('balance', { kind: 'status', status: 500 });
    await expect(certification(wallet)).rejects.toThrow(/cannot be read.*--only/);
    const certificate = await certification(wallet, { only: ['profile', 'balance'] });
    expect(ids(certificate, 'failed').every((id) => id.startsWith('balance-'))).toBe(true);
    expect(certificate).toMatchObject({ verdict: 'not_fit', money: { difference: null } });
  });
});
