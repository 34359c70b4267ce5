import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

/** A service that was restored from a backup assigns ids again that alpha's bonuses had before. */

const REUSED = 90_002;

let deployment: BonusGateway;
let template: number;
beforeEach(async () => {
  deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 2_000 } });
  const { alpha } = deployment;
  await deployment.bonus(alpha, await deployment.template(alpha), 'ann');
  template = await deployment.template(deployment.beta, { name: 'Of beta' });
  await deployment.sql(
    `INSERT INTO bonuses (upstream_cid, operator_id, bonus_id, template_id, user_id)
     SELECT $1, 'alpha', $2, 1, user_id FROM players WHERE operator_id = 'alpha'`,
    [SERVICE_CID, REUSED],
  );
});
afterEach(() => deployment.close());

const apply = () => deployment.beta.call('/bonuses/bonus/applyBatch', batchBody(template, ['ben']));
const revoke = () => deployment.alpha.call('/bonuses/bonus/revokeBatch', { bonusesIds: [REUSED] });

it('a bonus belongs to the player to whom the service has issued it, and another operator can no longer revoke it (I8)', async () => {
  const issued = await apply();
  expect(Object.keys(objectOf(issued.json?.items))).toEqual([String(REUSED)]);
  expect((await revoke()).json).toMatchObject({ items: {}, errorItems: [{ bonusId: REUSED }] });
  expect(deployment.api.bonuses.map(({ status }) => status)).toEqual(['active', 'active']);
  const own = await deployment.beta.call('/bonuses/bonus/revokeBatch', { bonusesIds: [REUSED] });
  expect(Object.keys(objectOf(own.json?.items))).toEqual([String(REUSED)]);
});
