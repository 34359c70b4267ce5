import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollbackBody } from '../../src/protocol/callback-bodies.ts';
import {
  createService,
  type PlaceRequest,
  type SimulatedService,
} from '../../tools/simulator/service.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { QUICK } from '../money-safety/support/patience.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  importPlayers,
  type MovingPlayer,
  OldGateway,
  openHere,
  startRouter,
  walletToken,
} from './support/old-gateway.ts';

let gateway: TestGateway;
let old: OldGateway;
let router: Awaited<ReturnType<typeof startRouter>>;
/** Calls one address, as it always has. */
let service: SimulatedService;
beforeAll(async () => {
  const operators = { alpha: {}, beta: { sessions: { mode: 'prefixed' } } };
  gateway = await startTestGateway({ worker: true, gateway: QUICK, operators });
  old = new OldGateway(gateway);
  router = await startRouter(gateway, old);
  service = createService({ baseUrl: router.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
});
afterAll(async () => {
  await service.close();
  await router.close();
  await old.close();
  await gateway.close();
});

const wallet = () => gateway.wallet('alpha');
const balanceOf = ({ user }: MovingPlayer) => wallet().balance(user, 'USD');
const inJournal = async (id: string) =>
  (await sql(gateway, 'SELECT FROM bets WHERE transaction_id = $1', [id])).length > 0;

/** An imported player with a session at the old gateway. */
async function importedPlayer() {
  const player = old.addPlayer();
  await importPlayers(gateway, [player]);
  const token = old.openSession(player);
  return { player, oldSlip: slipOf(player, token) };
}

function slipOf({ userId }: MovingPlayer, token: string): PlaceRequest {
  return { userId, token, currency: 'USD', amount: '100' };
}

async function placed(slip: PlaceRequest): Promise<string> {
  const { kind, transactionId } = await service.place(slip);
  expect(kind).toBe('accepted');
  return transactionId;
}

const settled = (id: string, amount: string) =>
  expect(service.settle(id, { amount, resultType: 'won' })).resolves.toMatchObject({
    kind: 'confirmed',
  });

/** The service's belief about a player's bets equals what the wallet has moved. */
function expectAgreement({ userId, user }: MovingPlayer): void {
  const account = service.books().accounts.find((one) => one.userId === userId);
  const moved = Number(wallet().balance(user, 'USD')) - 1000;
  expect(Number(account?.net)).toBe(moved);
}

describe('an operator that moves under traffic', { timeout: 60_000 }, () => {
  it('leaves its open bets and frames where they are: each bet has one gateway (I5)', async () => {
    const { player, oldSlip } = await importedPlayer();
    const [settledOld, undone, openOld] = [
      await placed(oldSlip),
      await placed(oldSlip),
      await placed(oldSlip),
    ];
    await settled(settledOld, '20');
    // From here on the operator opens its sessions at Wagergate: to the service it is the same player.
    const session = await openHere(gateway, player);
    expect(session.userId).toBe(player.userId);
    const newSlip = slipOf(player, session.token);
    const [first, second] = [await placed(newSlip), await placed(newSlip)];
    // A frame that was opened earlier continues.
    expect((await service.profile(oldSlip.token)).player?.userId).toBe(player.userId);
    expect((await service.profile(newSlip.token)).player?.userId).toBe(player.userId);
    const late = await placed(oldSlip);

    await settled(settledOld, '50');
    await service.rollback(undone);
    await settled(openOld, '0');
    await settled(first, '20');
    await service.unsettle(first);
    await settled(first, '30');
    await service.rollback(second);
    await service.update(late, '1.5');
    expectAgreement(player);
    expect(await Promise.all([settledOld, undone, openOld, late].map(inJournal))).toEqual([
      ...[false, false, false, false],
    ]);
    expect(await Promise.all([first, second].map(inJournal))).toEqual([true, true]);
  });
});

describe('who a player is to the service', () => {
  it('stays the same for an operator with prefixed tokens (I9)', async () => {
    const player = old.addPlayer('beta');
    await importPlayers(gateway, [player]);
    const { player: seen } = await service.profile(`beta.${walletToken(gateway, player)}`);
    expect(seen?.userId).toBe(player.userId);
  });

  it('is bound to the operator’s id: under another id it is another player', async () => {
    const player = old.addPlayer();
    await importPlayers(gateway, [player]);
    expect(await importPlayers(gateway, [{ ...player, operatorId: 'alpha-two' }])).toEqual([
      {
        kind: 'conflict',
        why: `userId ${player.userId} already belongs to alpha's ${player.user}`,
      },
    ]);
  });
});

describe('a rollback that the old gateway still owes to its wallet', { timeout: 60_000 }, () => {
  it('is brought by Wagergate once it is sent there, however long the wallet is away (I4)', async () => {
    const { player, oldSlip } = await importedPlayer();
    const id = await placed(oldSlip);
    await wallet().down();
    const owed = rollbackBody({ ...service.slip({ ...oldSlip, transactionId: id }) }, 50);
    // Signed with the service's secret, which the aggregator has as well.
    expect((await gateway.service.call('PUT', '/payment/bet', owed)).status).toBe(200);
    await wallet().up();
    await wallet().waitFor(() => balanceOf(player) === '1000');
    // The old gateway does so too.
    expect((await old.callback('PUT', '/payment/bet', owed)).status).toBe(200);
    expect(balanceOf(player)).toBe('1000');
    expect(wallet().arrivals(id, 'rollback')).toHaveLength(2);
  });
});
