import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type BonusGateway,
  createTemplate,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

/** Templates of all operators share the pages that each create and the read-back read (I7). */

let deployment: BonusGateway;
beforeAll(async () => {
  deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 5_000 } });
});
afterAll(() => deployment.close());

const tournaments = (count: number, text: string) =>
  Array.from({ length: count }, (_, n) => `${text}${n}`);

it.each([
  ['of letters', tournaments(1_000, 'x'.repeat(40)), 413],
  ['that a writer of JSON may escape', tournaments(15, '<'.repeat(250)), 413],
  ['of a thousand ids of ten digits', tournaments(1_000, '1234567'), 200],
])(
  'a template with tournaments %s is accepted only if pages stay readable',
  async (_, availableTournaments, status) => {
    const before = deployment.api.templates.size;
    const made = await createTemplate(deployment.alpha, { availableTournaments });
    expect(made.status, made.body.slice(0, 200)).toBe(status);
    if (status === 413) expect(made.json?.code).toBe(5);
    expect(deployment.api.templates.size).toBe(status === 200 ? before + 1 : before);
  },
);

it('a page of the largest templates keeps no other operator from its own, nor the read-back from reading (I7)', async () => {
  const { alpha, beta, api } = deployment;
  // 16 KiB, minus the rest of the template.
  const availableTournaments = tournaments(380, 'x'.repeat(34));
  expect((await createTemplate(alpha, { name: 'Largest', availableTournaments })).status).toBe(200);
  for (let n = 0; n < 120; n += 1) {
    api.createTemplate(SERVICE_CID, { name: `Largest ${n}`, availableTournaments });
  }
  api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  const create = () => createTemplate(beta, { name: 'Of beta' });
  expect((await create()).status).toBe(504);
  expect((await deployment.untilClosed(create)).status).toBe(200);
});
