import { it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { onRedis, untilDeliveries } from './support/deliveries.ts';
it('x', async () => {
  const gateway = await startTestGateway({ worker: true, gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 500 } } });
  await onRedis(gateway.redisUrl, async (c) => {
    console.log(await c.keys('*'));
    await c.hset('{wagergate}:deliveries:drain-alpha', { name: 'drain', data: '{}', opts: '{}' });
    const bet = await placedBet(gateway);
    gateway.wallet('alpha').misbehave('rollback', { kind: 'status', status: 500 }, {calls: 1});
    await bet.rollback();
    const m = c.duplicate(); 
    const mon = await m.monitor(); mon.on('monitor', (t: string, args: string[]) => { if (args.join(' ').includes('alpha')) console.log(t, args.map((a)=>a.slice(0,80)).join(' ').slice(0, 400)); });
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    console.log(await c.keys('*'), await c.hgetall('{wagergate}:deliveries:drain-alpha'));
    mon.disconnect(); m.disconnect();
  });
  await gateway.close();
});
