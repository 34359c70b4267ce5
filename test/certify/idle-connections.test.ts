import { describe, expect, it } from 'vitest';
import { walletSettings } from '../wallets/support/calls.ts';
import { certification, ids, SECRET, sandbox } from './support/certification.ts';
import { closesIdle } from './support/closes-idle.ts';
import { codeIn } from './support/flawed-answers.ts';

const only = ['latency-balance-10', 'settle-late-repeat', 'shape-idle-connections'] as const;
const limits = { warnMs: 60_000, failMs: 60_000, callMs: 20_000, lateMs: 1300 };

describe('a wallet that closes idle connections before the gateway gives them up', () => {
  it.each([
    ['without a word is warned: a place may be on its way', false, ['shape-idle-connections']],
    ['and says so is not: the gateway sends nothing there', true, []],
  ] as const)('%s', async (_, saysSo, warned) => {
    const { baseUrl } = await closesIdle(await sandbox(), 600, saysSo);
    const settings = walletSettings({ baseUrl, secrets: [SECRET] });
    const certificate = await certification(await sandbox(), { settings, only, limits });
    expect(ids(certificate, 'warned')).toEqual(warned);
    const found = certificate.findings.find((one) => one.case === 'shape-idle-connections');
    expect(found?.meaning).toBe(saysSo ? undefined : 'absorbed');
  });
});

it('connections that are closed only while a dialect is tried say nothing against the dialect', async () => {
  const { baseUrl, closeOthers } = await closesIdle(await sandbox(codeIn('error')), 60_000, false);
  const certificate = await certification(await sandbox(), {
    settings: walletSettings({ baseUrl, secrets: [SECRET] }),
    only: ['place-not-enough', 'latency-balance-10', 'shape-refusal-code', only[2]],
    limits,
    onProgress: ({ kind }) => {
      if (kind === 'verifying') closeOthers();
    },
  });
  expect(certificate.withheld).toEqual([]);
  expect(certificate.verdict).toBe('fit_with_dialect');
});
