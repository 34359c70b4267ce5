import { afterAll, beforeAll, expect, it } from 'vitest';
import { askedFor, askedHash } from '../../src/bonuses/methods/request-body.ts';
import { treeOf } from '../../src/bonuses/translation/json-tree.ts';
import { parseJsonObject } from '../../src/protocol/json.ts';
import {
  type BonusGateway,
  batchBody,
  createTemplate,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
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

it('the repeat of a large create that was begun before there was a limit gets the first answer', async () => {
  const { alpha } = deployment;
  const made = await createTemplate(alpha, { name: 'Small' });
  const large = { name: 'Large', availableTournaments: tournaments(1_000, 'x'.repeat(40)) };
  await deployment.sql('UPDATE bonus_intents SET body_hash = $1 WHERE answer_body = $2', [
    hashOf(templateBody(large)),
    made.body,
  ]);
  expect(await createTemplate(alpha, large)).toMatchObject({ status: 200, body: made.body });
});

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

it('a lost batch whose answer would be over 8 MB is closed without being read, and may be repeated', async () => {
  const { beta, api } = deployment;
  const template = await deployment.template(beta, { name: 'For many' });
  const users = Array.from({ length: 300 }, (_, n) => `player-${n}`);
  api.misbehave('bonus/applyBatch', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  const apply = () => beta.call('/bonuses/bonus/applyBatch', batchBody(template, users));
  expect((await apply()).status).toBe(504);
  // As the read-back would store it after some minutes if the template were large.
  await deployment.sql(
    `UPDATE bonus_grants SET state = 'issued', item = '{"id":' || id || ',"name":"' || repeat('x', 30000) || '"}'
      WHERE template_id = $1`,
    [template],
  );
  await deployment.sql("UPDATE bonus_intents SET look_at = now() WHERE kind = 'apply'");
  const again = await deployment.untilClosed(apply);
  expect([again.status, again.json?.items]).toEqual([200, {}]);
  expect(again.json?.errorItems).toHaveLength(300);
});

function hashOf(body: object): Buffer {
  return askedHash(askedFor(treeOf(parseJsonObject(Buffer.from(JSON.stringify(body))))));
}
