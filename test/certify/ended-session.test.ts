import { describe, expect, it } from 'vitest';
import { certification, ids, PLAYER, sandbox, suggested } from './support/certification.ts';
import * as mistaking from './support/mistaken-identity.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';

const ENDED = 'ann-old-token';

const ROWS: readonly Row[] = [
  {
    wallet: 'checks the token of a rollback',
    mistake: mistaking.checksTokensOf(['rollback']),
    failed: [],
    warned: ['rollback-ended-token'],
    verdict: 'fit',
  },
  {
    wallet: 'confirms a rollback whose token has ended, and keeps the stake',
    mistake: mistaking.forgetsTheDeparted,
    failed: ['rollback-ended-token'],
    dialect: {},
  },
];

describe('a wallet that', () => {
  it.each(ROWS)('$wallet', failsItsCases);

  it('checks the token of a rollback keeps the stakes of players who have left, if it takes no ended one', async () => {
    const player = { ...PLAYER, endedToken: ENDED };
    const wallet = await sandbox(mistaking.checksTokensOf(['rollback']));
    const certificate = await certification(wallet, { player, only: ['rollback-ended-token'] });
    expect(certificate.verdict).toBe('not_fit');
    expect(ids(certificate, 'failed')).toEqual(['rollback-ended-token']);
  });

  it('wants a live token with results is not fit by getting the token of the bet', async () => {
    const player = { ...PLAYER, endedToken: ENDED };
    const wallet = await sandbox(mistaking.demandsLiveTokens());
    const only = ['settle', 'unsettle'] as const;
    const certificate = await certification(wallet, { player, only });
    expect(certificate.verdict).toBe('not_fit');
    expect(ids(certificate, 'failed')).toEqual(
      expect.arrayContaining(['settle-ended-token', 'unsettle-ended-token']),
    );
  });

  it('wants a token with results, and knows ended ones, is fit where one is named', async () => {
    const player = { ...PLAYER, endedToken: ENDED };
    const wallet = await sandbox(mistaking.demandsLiveTokens([ENDED]));
    const only = ['settle', 'unsettle'] as const;
    const certificate = await certification(wallet, { player, only });
    expect({ verdict: certificate.verdict, suggested: suggested(certificate) }).toEqual({
      verdict: 'fit_with_dialect',
      suggested: ['alwaysSendToken: true'],
    });
    expect(ids(certificate, 'failed').filter((id) => id.endsWith('-ended-token'))).toEqual([]);
  });
});
