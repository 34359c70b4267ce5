import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  startBonusGateway,
} from './support/bonus-gateway.ts';

/** As SQL Server writes them. */
const GUID = '7C9E6679-7425-40DE-944B-E07FC1F90AE7';

let deployment: BonusGateway;
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway();
  template = await deployment.template(deployment.alpha);
  // As `players import` writes players whom the service knows already.
  await deployment.sql(`
    INSERT INTO players (operator_id, operator_user, user_id)
    VALUES ('alpha', 'direct-1', 'direct-1'), ('alpha', '100', '200'), ('alpha', '200', '100'),
           ('alpha', 'guid', '${GUID}')`);
});
afterAll(() => deployment.close());

it.each(['direct-1', '100', '200'])(
  'an imported player %s gets a bonus, although the service uses that id for somebody',
  async (user) => {
    const body = batchBody(template, [user]);
    const issued = await deployment.alpha.call('/bonuses/bonus/applyBatch', body);
    expect(issued.status, issued.body).toBe(200);
    const [bonus] = Object.values(objectOf(issued.json?.items));
    expect(bonus).toMatchObject({ userId: user });
  },
);

it('the id that the gateway gave a player is refused, whatever another operator calls its own (I8)', async () => {
  const apply = (operator: SimulatedOperator, templateId: number, user: string) =>
    operator.call('/bonuses/bonus/applyBatch', batchBody(templateId, [user]));
  await deployment.sql(`
    INSERT INTO players (operator_id, operator_user, user_id)
    VALUES ('alpha', 'ours', '300'), ('beta', '300', 'theirs')`);
  const refused = await apply(deployment.alpha, template, '300');
  expect([refused.status, refused.json?.message]).toEqual([
    400,
    expect.stringContaining('send your own'),
  ]);
  const issued = await apply(deployment.beta, await deployment.template(deployment.beta), '300');
  expect(issued.status, issued.body).toBe(200);
});

it('a player whom the service calls by a GUID in capitals keeps the entry and the name in an error', async () => {
  const refused = { [GUID]: { code: 33, message: `No bonus for ${GUID}, see player-${GUID}` } };
  deployment.api.misbehave(
    'bonus/applyBatch',
    { kind: 'rewrite', body: () => JSON.stringify({ items: {}, errorItems: refused }) },
    { calls: 1 },
  );
  const body = batchBody(template, ['guid']);
  const issued = await deployment.alpha.call('/bonuses/bonus/applyBatch', body);
  expect(issued.json).toEqual({
    items: {},
    errorItems: { guid: { code: 33, message: 'No bonus for guid, see player-guid' } },
  });
});
