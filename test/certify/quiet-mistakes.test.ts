import { describe, expect, it } from 'vitest';
import type { Fitness } from '../../src/certify/certificate/certificate.ts';
import { htmlReport } from '../../src/certify/report/html-report.ts';
import type { Selection } from '../../src/certify/selection.ts';
import type { FailureMeaning } from '../../src/certify/trial/failure-meaning.ts';
import { certification, ids, sandbox } from './support/certification.ts';
import { debitsNothing } from './support/flawed-wallets.ts';
import type { Mistake } from './support/mistake.ts';
import * as quiet from './support/quiet-mistakes.ts';

interface Row {
  readonly wallet: string;
  readonly mistake: Mistake;
  readonly only: readonly Selection[];
  readonly found: readonly string[];
  readonly meaning: FailureMeaning;
  readonly verdict?: Fitness;
}

const AFTER_MS = 30;

const SPENT = ['resettle-spent-payout', 'unsettle-spent-payout', 'rollback-spent-payout'] as const;

const ROWS: readonly Row[] = [
  {
    wallet: 'cuts amounts off as binary floats',
    mistake: quiet.cutsCents,
    only: ['currency-cents', 'currency-exact-sums', 'currency-exact-payout', 'currency-odd-cents'],
    found: ['currency-odd-cents'],
    meaning: 'costs_money',
  },
  {
    wallet: 'pays the whole stake for a refund of a part',
    mistake: quiet.refundsTheStake,
    only: ['settle'],
    found: ['settle-part-refund'],
    meaning: 'costs_money',
  },
  {
    wallet: 'pays nothing for a lost bet that has an amount',
    mistake: quiet.paysNothingForLost,
    only: ['settle'],
    found: ['settle-part-lost'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'pays at most a thousand and says that it has paid',
    mistake: quiet.capsPayouts('1000'),
    only: ['settle'],
    found: ['settle-large-payout'],
    meaning: 'costs_money',
  },
  {
    wallet: 'refuses payouts above a hundred thousand',
    mistake: quiet.refusesPayoutsAbove('100000'),
    only: ['settle'],
    found: ['settle-large-payout'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'knows bets by a part of their ids',
    mistake: quiet.cutsIds(),
    only: ['place'],
    found: ['place-close-ids'],
    meaning: 'costs_money',
  },
  {
    wallet: 'lends money where more than two bet at once',
    mistake: quiet.lendsToTheThird(),
    only: ['place-concurrent-overdraw'],
    found: ['place-concurrent-overdraw'],
    meaning: 'costs_money',
  },
  {
    wallet: 'forgets rollbacks after a while',
    mistake: quiet.forgetsRollbacks(AFTER_MS),
    only: ['rollback-late-repeat'],
    found: ['rollback-late-repeat'],
    meaning: 'costs_money_when_an_answer_is_lost',
  },
  {
    wallet: 'forgets results after a while',
    mistake: quiet.forgetsResults(AFTER_MS),
    only: ['settle-late-repeat'],
    found: ['settle-late-repeat'],
    meaning: 'costs_money_when_an_answer_is_lost',
  },
  {
    wallet: 'refuses a rollback whose payout was spent',
    mistake: quiet.neverBelowZero('rollback', 7),
    only: SPENT,
    found: ['rollback-spent-payout'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'forgives the payout that was spent',
    mistake: quiet.neverBelowZero('rollback', 'forgives'),
    only: SPENT,
    found: ['rollback-spent-payout'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'refuses an unsettle whose payout was spent',
    mistake: quiet.neverBelowZero('unsettle', 7),
    only: SPENT,
    found: ['unsettle-spent-payout'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'says that it took back a payout that was spent',
    mistake: quiet.neverBelowZero('unsettle', 'forgives'),
    only: SPENT,
    found: ['unsettle-spent-payout'],
    meaning: 'costs_money',
  },
  {
    wallet: 'refuses a lower result by a code for places, where the first payout was spent',
    mistake: quiet.neverBelowZero('settle', 7),
    only: SPENT,
    found: ['resettle-spent-payout'],
    meaning: 'costs_money',
    verdict: 'fit',
  },
  {
    wallet: 'says that it has lowered a payout that was spent',
    mistake: quiet.neverBelowZero('settle', 'forgives'),
    only: SPENT,
    found: ['resettle-spent-payout'],
    meaning: 'costs_money',
  },
  {
    wallet: 'compares as much of a signature as was sent',
    mistake: quiet.comparesWhatWasSent,
    only: ['signature-no-algorithm', 'signature-tampered-place', 'signature-empty'],
    // Without an algorithm there is nothing to compare either.
    found: ['signature-empty', 'signature-no-algorithm'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'compares ten characters of a signature',
    mistake: quiet.comparesTheFirst(10),
    only: ['signatures'],
    found: ['signature-shortened', 'signature-tampered-end'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'compares all of a signature but its last two characters',
    mistake: quiet.comparesTheFirst(41),
    only: ['signatures'],
    found: ['signature-tampered-end'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'compares the end of a signature',
    mistake: quiet.comparesTheLast(10),
    only: ['signatures'],
    found: ['signature-tampered-place'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'takes the beginning of a signature for it',
    mistake: quiet.takesABeginning,
    only: ['signatures'],
    found: ['signature-shortened'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'takes an empty secret beside its own',
    mistake: quiet.takesTheUnsetSecret(''),
    only: ['signatures'],
    found: ['signature-unset-secret'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'takes the text of a secret that was never set',
    mistake: quiet.takesTheUnsetSecret('undefined'),
    only: ['signatures'],
    found: ['signature-unset-secret'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'verifies the payload of a signature and not the body',
    mistake: quiet.verifiesAttachedPayloads,
    only: ['signatures'],
    found: ['signature-attached-body'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'verifies no signature of an unsettle',
    mistake: quiet.trustsType(1),
    only: ['signature-foreign-settle', 'signature-foreign-unsettle', 'signature-foreign-update'],
    found: ['signature-foreign-unsettle'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'verifies no signature of an update',
    mistake: quiet.trustsType(5),
    only: ['signature-foreign-settle', 'signature-foreign-unsettle', 'signature-foreign-update'],
    found: ['signature-foreign-update'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'answers with its settings',
    mistake: quiet.showsSettings,
    only: ['signatures', 'shape-no-secrets'],
    found: ['shape-no-secrets'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'answers with its settings in base64',
    mistake: quiet.showsSettingsEncoded,
    only: ['signatures', 'shape-no-secrets'],
    found: ['shape-no-secrets'],
    meaning: 'lets_somebody_in',
  },
  {
    wallet: 'tells the signature that it expected',
    mistake: quiet.tellsTheSignature(),
    only: ['signatures', 'shape-no-secrets'],
    found: ['shape-no-secrets'],
    meaning: 'lets_somebody_in',
  },
];

describe('a mistake that shows in no ordinary call is found', () => {
  it.each(ROWS)('$wallet', async ({ mistake, only, found, meaning, verdict = 'not_fit' }) => {
    const wallet = await sandbox(mistake);
    const limits = { warnMs: 60_000, failMs: 60_000, callMs: 20_000, lateMs: 2 * AFTER_MS };
    const certificate = await certification(wallet, { only, limits });
    expect(certificate.findings.map((one) => one.case).sort()).toEqual(found);
    expect(certificate.findings.map((one) => one.meaning)).toEqual(found.map(() => meaning));
    // A result that must not be sent again can be left to a person.
    const mended = found.includes('settle-late-repeat') ? 'fit_with_dialect' : verdict;
    expect(certificate.verdict).toBe(mended);
  });
});

describe('what a wallet gives away', () => {
  it('is in no certificate: neither its secret nor the signature that it expected', async () => {
    const inBase64 = Buffer.from('the-wallets-secret').toString('base64');
    const telling = [quiet.showsSettings, quiet.showsSettingsEncoded, quiet.tellsTheSignature()];
    for (const mistake of telling) {
      const wallet = await sandbox(mistake);
      const only = ['signatures', 'shape-no-secrets'] as const;
      const certificate = await certification(wallet, { only });
      const text = JSON.stringify(certificate);
      expect(text).not.toContain('the-wallets-secret');
      expect(text).not.toContain(inBase64.slice(4, 20));
      expect(text).not.toContain(Buffer.from('wallet:the-wallets-secret').toString('base64'));
      expect(text).not.toMatch(/expected [\w-]{43}/);
    }
  });

  it('is no signature that was changed in one place: whoever has it tries the other characters', async () => {
    const { mistake, seen } = quiet.repeatsSignatures();
    const wallet = await sandbox(mistake);
    const certificate = await certification(wallet, { only: ['signatures'], verbose: true });
    const macs = seen.flatMap((jws) => /[^.]{20,}$/.exec(jws)?.[0] ?? []);
    expect(macs.length).toBeGreaterThan(10);
    const text = JSON.stringify(certificate) + htmlReport(certificate);
    expect(macs.filter((mac) => text.includes(mac.slice(0, 20)))).toEqual([]);
    expect(macs.filter((mac) => text.includes(mac.slice(-20)))).toEqual([]);
  });

  it('is no signature that was right: another could send the same call with it', async () => {
    const { mistake, seen } = quiet.repeatsSignatures();
    const wallet = await sandbox(mistake);
    const certificate = await certification(wallet, { only: ['place', 'shape-no-secrets'] });
    const text = JSON.stringify(certificate);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.filter((jws) => text.includes(jws) || text.includes(jws.slice(-43)))).toEqual([]);
    // The sender had it already.
    expect(ids(certificate, 'failed')).toEqual([]);
  });
});

describe('a wallet that takes no money for a freebet', () => {
  it('gets one warning and the advice to ask: the protocol leaves open who pays it', async () => {
    const wallet = await sandbox(debitsNothing);
    const certificate = await certification(wallet, { only: ['freebet'] });
    expect(ids(certificate, 'failed')).toEqual([]);
    expect(ids(certificate, 'warned')).toEqual(['freebet-place']);
    expect(certificate.findings[0]?.advice).toMatch(/^Ask the aggregator/);
  });
});
