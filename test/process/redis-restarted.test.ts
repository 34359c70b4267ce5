import { expect, it, onTestFinished } from 'vitest';
import { onRedis } from '../support/redis.ts';
import { openDeployment } from './support/deployment.ts';

it('a process begins with answers of its own where Redis was restarted while none was there (I6)', async () => {
  const deployment = await openDeployment();
  onTestFinished(() => deployment.close());
  const epoch = () => onRedis(deployment.redisUrl, (redis) => redis.get('wagergate:answers-epoch'));
  const run = async () => {
    const { process } = await deployment.replica();
    await process.stop();
  };
  // As in its snapshot of an hour ago, without the fences since.
  await onRedis(deployment.redisUrl, (redis) =>
    redis.mset('wagergate:answers-epoch', 'old', 'wagergate:answers-run', 'the run before'),
  );
  await run();
  const raised = await epoch();
  expect(raised).not.toBe('old');
  await run();
  expect(await epoch()).toBe(raised);
});
