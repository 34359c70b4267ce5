import {
  placeBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../../src/protocol/callback-bodies.ts';
import type { ResultType } from '../../../tools/simulator/wallet/calls.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { importPlayers, type OldGateway } from './old-gateway.ts';

/** A bet that the old gateway has placed, and whose later callbacks come here. */
export async function betFromBefore(
  gateway: TestGateway,
  old: OldGateway,
  { operatorId = 'alpha', player = old.addPlayer(operatorId) } = {},
) {
  await importPlayers(gateway, [player]);
  const token = old.openSession(player);
  const slip = gateway.service.slip({ ...player, token, currency: 'USD', amount: '100' });
  const { transactionId } = slip;
  const placed = await old.callback('POST', '/payment/bet', placeBody(slip));
  if (placed.status !== 200) throw new Error(`not placed: ${placed.body}`);
  const wallet = gateway.wallet(operatorId);
  const won = (amount: string, resultType: ResultType = 'won', ofToken?: string) =>
    settleBody(slip, { amount, resultType, token: ofToken });
  const callbacksOf = (put: (body: string) => ReturnType<OldGateway['callback']>) => ({
    settle: (amount: string, resultType?: ResultType, ofToken?: string) =>
      put(won(amount, resultType, ofToken)),
    unsettle: () => put(unsettleBody(slip, '20')),
    rollback: () => put(rollbackBody(slip, 50)),
    update: (coefficient: string) => put(updateBody(slip, coefficient)),
  });
  return {
    ...{ player, slip, transactionId, wallet },
    /** Its callbacks, sent through the old gateway. */
    before: callbacksOf((body) => old.callback('PUT', '/payment/bet', body)),
    ...callbacksOf((body) => gateway.service.call('PUT', '/payment/bet', body)),
    /** A copy of its place, sent here. */
    place: (more?: RawFields) =>
      gateway.service.call('POST', '/payment/bet', placeBody(slip, more)),
    balance: () => wallet.balance(player.user, 'USD'),
    arrivals: () => wallet.arrivals(transactionId).map(({ operation }) => operation),
    /** The latest message about it, as the wallet received it. */
    last: (): Record<string, unknown> =>
      JSON.parse(
        String(wallet.requests.findLast(({ body }) => body.includes(transactionId))?.body),
      ),
  };
}
