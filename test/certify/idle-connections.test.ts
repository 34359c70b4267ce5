import { describe, expect, it } from 'vitest';
import { walletSettings } from '../wallets/support/calls.ts';
import { certification, ids, SECRET, sandbox } from './support/certification.ts';
import { closesIdle } from './support/closes-idle.ts';

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
