import { createServer } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createOtlpTracing } from '../../src/telemetry/tracing-otlp.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

it('says once that the receiver is away, also where spans still wait for it at the end', async () => {
  const probe = createServer();
  const port = await listenOn(probe, 0);
  await stopListening(probe);
  const said: string[] = [];
  const tracing = createOtlpTracing({
    endpoint: `http://127.0.0.1:${port}`,
    serviceName: 'wagergate',
    share: 1,
    onFailure: (why) => said.push(why),
  });
  const span = () => tracing.span({ name: 'place', kind: 'server' }, () => Promise.resolve());

  await span();
  await vi.waitFor(() => expect(said).toHaveLength(1), 10_000);
  await span();
  await tracing.close();
  expect(said).toEqual([expect.stringContaining('ECONNREFUSED')]);
});
