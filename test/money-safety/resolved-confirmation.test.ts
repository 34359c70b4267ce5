import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BY } from '../support/audit.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { onServer } from '../support/server.ts';
import { acceptedBet, isConfirming, lose, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, beta: PATIENT },
  });
});
afterEach(() => {
  for (const id of ['alpha', 'beta']) gateway.wallet(id).behave();
});
afterAll(() => gateway.close());

const HOLDS = { wallet: { ...PATIENT.wallet, dialect: { unknownRepeats: 'hold' } } } as const;

describe('rule 4: a confirmation that is lost once its wallet turns out to pay repeats again', {
  timeout: 60_000,
}, () => {
  it.each([
    ['settle', 'alpha', 'settled'],
    ['unsettle', 'beta', 'accepted'],
  ] as const)(
    'ends; where an older release made a dead letter of it, that is resolved: its %s stands, and the bet goes on (I4)',
    async (operation, operatorId, state) => {
      const bet = await acceptedBet(gateway, { operatorId });
      const { transactionId } = bet;
      lose(bet, 'settle');
      expect((await bet.settle('10')).status).toBe(503);
      const next = operation === 'settle' ? bet.settle('30') : bet.unsettle();
      expect((await next).status).toBe(200);
      const stopFailing = bet.wallet.misbehave(operation, { kind: 'reset' }, { transactionId });
      await isConfirming(bet);
      await gateway.reconfigure(operatorId, HOLDS);
      const [ended] = await untilDeliveriesAre(bet, [{ purpose: 'confirm', state: 'refused' }]);
      stopFailing();
      const asBefore = `UPDATE deliveries SET state = 'dead' WHERE id = $1`;
      await onServer(gateway.databaseUrl, (client) => client.query(asBefore, [ended?.id]));
      const sent = settlesOf(bet).length;
      await asPerson(gateway, (admin) => admin.resolve(ended?.id ?? '', 'ann', 'it holds it', BY));
      expect((await gateway.operator(operatorId).bet(transactionId)).json).toMatchObject({ state });
      expect(settlesOf(bet)).toHaveLength(sent);
      expect((await bet.rollback()).status).toBe(200);
    },
  );
});
