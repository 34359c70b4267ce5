import { expect, it } from 'vitest';
import { walletSettings } from '../wallets/support/calls.ts';
import { certification, SECRET, sandbox } from './support/certification.ts';
import { closesIdle } from './support/closes-idle.ts';
import { servesFew } from './support/few-connections.ts';

const only = ['place-beside-reads'] as const;
const limits = { warnMs: 60_000, failMs: 60_000, callMs: 3000, lateMs: 300 };

it.each([
  ['keeps idle ones is told to close each after its answer', false],
  ['closes each after its answer is fit', true],
] as const)('a wallet that serves few connections at a time and %s', async (_, closes) => {
  const { baseUrl } = await servesFew(await closesIdle(await sandbox(), 60_000, closes), 4);
  const settings = walletSettings({ baseUrl, secrets: [SECRET] });
  const certificate = await certification(await sandbox(), { settings, only, limits });
  expect(certificate.verdict).toBe(closes ? 'fit' : 'not_fit');
  const advice = certificate.findings.map((finding) => finding.advice);
  const told = expect.stringContaining('have it close each after its answer (`Connection: close`');
  expect(advice).toEqual(closes ? [] : [told]);
});
