import { expect, it } from 'vitest';
import { walletSettings } from '../wallets/support/calls.ts';
import { refusesTwice } from './support/answers-twice.ts';
import { certification, ids, SECRET, sandbox } from './support/certification.ts';

it('finds a wallet that answers a refusal twice, whose copy would decline the next bet (I2)', async () => {
  const wallet = await sandbox();
  const settings = walletSettings({ baseUrl: await refusesTwice(wallet), secrets: [SECRET] });
  const certificate = await certification(wallet, { settings, only: ['place', 'shape'] });
  expect(certificate.verdict).toBe('not_fit');
  // It is noticed before the next request, so that no other case gets a copy for its answer.
  expect(ids(certificate, 'failed')).toEqual(['shape-answered-once']);
  const found = certificate.cases.find(({ id }) => id === 'shape-answered-once');
  expect(found?.meaning).toBe('costs_money');
  expect(found?.reasons.join()).toMatch(/^more came after the answer to a /);
  expect(found?.calls.length).toBeGreaterThan(0);
  expect(certificate.money).toMatchObject({ difference: '0' });
});
