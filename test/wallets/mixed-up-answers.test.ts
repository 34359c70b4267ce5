import type { Socket } from 'node:net';
import { setImmediate as otherWork } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Wallet } from '../../src/wallets/call.ts';
import { betCall, readCall } from './support/calls.ts';
import { type RawRequest, reply, replyAccepted } from './support/raw-wallet.ts';
import { closeOpened, stage } from './support/stage.ts';

afterEach(closeOpened);

/** At most one connection for bets and one for reads, so that consecutive calls share it. */
const FEW = { maxConcurrent: { read: 1, money: 1 } };

/**
 * A wallet that answers the very first call twice. The second answer reaches the next call on that connection, that
 * call's answer the one after it, and so on.
 */
function answersTwice(properly: (request: RawRequest) => void): (request: RawRequest) => void {
  let outOfStep: Socket | undefined;
  let before: RawRequest | undefined;
  return (request) => {
    outOfStep ??= request.socket;
    if (request.socket !== outOfStep) return properly(request);
    properly(before ?? request);
    before = request;
  };
}

/** Declines the bet `t2` and accepts all others; a balance is the number in its player's name. */
function properly(request: RawRequest): void {
  const { transactionId, userId } = JSON.parse(request.body.toString());
  if (userId !== undefined) reply(request.socket, 200, JSON.stringify({ userId, amount: +userId }));
  else if (transactionId === 't2') reply(request.socket, 400, '{"code":7}');
  else replyAccepted(request);
}

const bet = (transactionId: string) =>
  betCall({ transactionId, body: JSON.stringify({ transactionId }) });
const balance = (userId: string) => readCall({ body: JSON.stringify({ userId }) });

async function inTurn<T>(calls: readonly (() => Promise<T>)[]): Promise<T[]> {
  const answers: T[] = [];
  for (const call of calls) {
    answers.push(await call());
    // The connection is free again.
    await otherWork();
  }
  return answers;
}

describe('a connection on which a wallet has answered twice', () => {
  it('takes no call once it has brought another bet’s answer: no bet has that of the one before (I2)', async () => {
    const { wallet, server } = await stage(answersTwice(properly), FEW);
    const answers = await inTurn(
      ['t0', 't1', 't2', 't3', 't4'].map((id) => () => wallet.bet(bet(id))),
    );
    expect(answers).toMatchObject([
      { kind: 'accepted' },
      {
        kind: 'unknown',
        fault: 'bad_answer',
        trace: { error: 'the answer is for another transactionId' },
      },
      { kind: 'declined', code: 7 },
      { kind: 'accepted' },
      { kind: 'accepted' },
    ]);
    expect(server.connections).toBe(4);
  });

  it('tells no player the balance of another after a bet’s answer has come for a balance (I8)', async () => {
    const { wallet } = await stage(answersTwice(properly), FEW);
    await inTurn([() => wallet.bet(bet('t0'))]);
    const answers = await inTurn(['1', '2', '3'].map((user) => () => wallet.read(balance(user))));
    expect(answers).toMatchObject([
      { kind: 'unknown', trace: { error: 'the answer has no proper amount' } },
      { kind: 'answered', document: { value: { userId: '2', amount: 2 } } },
      { kind: 'answered', document: { value: { userId: '3', amount: 3 } } },
    ]);
  });
});

describe('calls under way when answers are found to be mixed up', () => {
  it('end on the connections that they have', async () => {
    const { wallet, server } = await stage((request, index) => {
      if (index > 0) reply(request.socket, 200, '{"transactionId":"another"}');
    });
    const slow = wallet.bet(bet('slow'));
    const { socket } = await server.arrived(1);
    expect(await wallet.bet(bet('t1'))).toMatchObject({ kind: 'unknown' });
    reply(socket, 200, '{"transactionId":"slow"}');
    expect(await slow).toMatchObject({ kind: 'accepted' });
  });
});

/** Accepts all bets but `t0`, on which it answers twice: the copy comes when the test, or the next request, wants it. */
function declinesTwice(copyBefore: 'the next answer' | 'nothing') {
  let copyTo: Socket | undefined;
  const copy = () => {
    if (copyTo !== undefined) reply(copyTo, 400, '{"code":7}');
    copyTo = undefined;
  };
  const onRequest = (request: RawRequest) => {
    if (request.socket === copyTo && copyBefore === 'the next answer') copy();
    if (JSON.parse(request.body.toString()).transactionId !== 't0') return replyAccepted(request);
    copyTo = request.socket;
    reply(request.socket, 400, '{"code":7}');
  };
  return { copy, onRequest };
}

const warned = (requestId: string) => [
  { level: 40, operator: 'alpha', requestId, msg: 'wallet.answered_twice' },
];

describe('a refusal that a wallet sends twice', () => {
  const named = (transactionId: string) =>
    betCall({ transactionId, requestId: `of-${transactionId}`, body: bet(transactionId).body });
  const place = (wallet: Wallet) => (id: string) => () => wallet.bet(named(id));

  it('declines nobody’s bet once a copy has come while no call was under way (I2)', async () => {
    const { copy, onRequest } = declinesTwice('nothing');
    const { wallet, server, logged } = await stage(onRequest, FEW);
    expect(await wallet.bet(named('t0'))).toMatchObject({ kind: 'declined' });
    copy();
    await expect.poll(() => logged).toEqual(warned('of-t0'));
    const later = await inTurn(['t0', 't1', 't0', 't2'].map(place(wallet)));
    expect(later.map(({ kind }) => kind)).toEqual(['declined', 'accepted', 'declined', 'accepted']);
    expect(server.connections).toBe(5);
    expect(server.requests.map(({ headers }) => headers.connection)).toEqual([
      'keep-alive',
      ...later.map(() => 'close'),
    ]);
    expect(logged).toHaveLength(1);
  });
});

describe('what is no second answer', () => {
  it.each<readonly [string, (socket: Socket) => void]>([
    ['a connection that its wallet closes', (socket) => socket.end()],
    ['a connection that its wallet resets', (socket) => socket.resetAndDestroy()],
    ['a call answered by what is no HTTP', (socket) => socket.write('what?')],
    ['a call answered 100 without having asked', (socket) => reply(socket, 100, '')],
  ])('%s', async (_what, misbehave) => {
    const { wallet, server, logged } = await stage((request, index) => {
      if (index === 1) misbehave(request.socket);
      else replyAccepted(request);
    }, FEW);
    const answers = await inTurn(['t0', 't1', 't2', 't3'].map((id) => () => wallet.bet(bet(id))));
    expect(answers.map(({ kind }) => kind)).toEqual([
      'accepted',
      'unknown',
      'accepted',
      'accepted',
    ]);
    expect([logged, server.connections]).toEqual([[], 2]);
  });

  it('another bet’s answer that is the first on its connection: its fault lies behind', async () => {
    const { wallet, logged, server } = await stage((request, index) => {
      if (index === 0) reply(request.socket, 200, '{"transactionId":"another"}');
      else replyAccepted(request);
    }, FEW);
    await inTurn(['t0', 't1', 't2'].map((id) => () => wallet.bet(bet(id))));
    expect([logged, server.connections]).toEqual([[], 2]);
  });
});
