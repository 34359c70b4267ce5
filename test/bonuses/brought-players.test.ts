import { afterAll, beforeAll, expect, it } from 'vitest';
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
