import type { Socket } from 'node:net';
import { setImmediate as otherWork } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
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
    expect(server.connections).toBe(2);
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

  it('takes none after a balance has come for a bet either', async () => {
    const { wallet } = await stage(answersTwice(properly), FEW);
    await inTurn([() => wallet.read(balance('1'))]);
    const answers = await inTurn(['t1', 't2', 't3'].map((id) => () => wallet.bet(bet(id))));
    expect(answers).toMatchObject([
      { kind: 'unknown', trace: { error: 'the answer has no transactionId' } },
      { kind: 'declined', code: 7 },
      { kind: 'accepted' },
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

it('a merely incomplete answer says nothing about its connection', async () => {
  const { wallet, server } = await stage(({ socket }) => reply(socket, 200, '{}'), FEW);
  await inTurn(['t0', 't1', 't2'].map((id) => () => wallet.bet(bet(id))));
  expect(server.connections).toBe(1);
});
