import type { Socket } from 'node:net';
import { setImmediate as otherWork } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { BonusService } from '../../../src/bonuses/service/client.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { signingKeys } from '../../../src/protocol/signature.ts';
import { deadlineIn } from '../../wallets/support/calls.ts';
import { reply, startRawWallet } from '../../wallets/support/raw-wallet.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const [key] = signingKeys(['the-services-secret']);

/** A bonus API that knows no template 1, and says so twice: the copy comes before the answer to the next call. */
async function answeringTwice() {
  let copyTo: Socket | undefined;
  const server = await startRawWallet(({ socket, body }) => {
    if (socket === copyTo) copy();
    const { templateId } = JSON.parse(body.toString());
    if (templateId !== 1) return reply(socket, 200, JSON.stringify({ id: templateId }));
    copyTo = socket;
    reply(socket, 400, '{"code":30,"message":"no template 1"}');
  });
  const copy = () => {
    if (copyTo !== undefined) reply(copyTo, 400, '{"code":30,"message":"no template 1"}');
    copyTo = undefined;
  };
  const logged: string[] = [];
  const bonusApi = new BonusService({
    clock: systemClock,
    logger: pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) }),
    settings: () => ({
      ...{ cid: 'aggregator', secrets: ['the-services-secret'] },
      ...{ bonusApiUrl: server.origin, bonusTimeoutMs: 4000, allowedIps: [], trustProxy: false },
    }),
  });
  opened.push(bonusApi, server);
  if (key === undefined) throw new Error('no key');
  const account = { cid: 'aggregator', key, masked: (text: string) => text, exclusive: false };
  const ask = async (operatorId: string, templateId: number) => {
    const body = JSON.stringify({ templateId });
    const { kind } = await bonusApi.ask(operatorId, account, 'template', body, deadlineIn(4000));
    // The connection is free again.
    await otherWork();
    return kind;
  };
  return { ask, copy, logged, server };
}

it('gives no operator the copy of another’s refusal, once a copy has come (I8)', async () => {
  const { ask, copy, logged, server } = await answeringTwice();
  expect(await ask('alpha', 1)).toBe('refused');
  copy();
  await expect.poll(() => logged).toEqual(['bonus.answered_twice']);
  expect([await ask('alpha', 1), await ask('beta', 2)]).toEqual(['refused', 'answered']);
  expect([await ask('alpha', 1), await ask('beta', 3)]).toEqual(['refused', 'answered']);
  expect(server.connections).toBe(5);
  expect(logged).toHaveLength(1);
});
