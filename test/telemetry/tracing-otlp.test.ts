import { createServer } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createOtlpTracing } from '../../src/telemetry/tracing-otlp.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { startOtlpReceiver } from './support/otlp-receiver.ts';

it('says once that the receiver is away, even if spans still wait for it at the end', async () => {
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
  expect(said).toEqual([expect.stringMatching(/ECONNREFUSED|EPIPE|Timeout/)]);
});

it('tells when a span really began, and that its work failed by the kind of error alone', async () => {
  const receiver = await startOtlpReceiver();
  const tracing = createOtlpTracing({
    endpoint: receiver.endpoint,
    serviceName: 'wagergate',
    share: 1,
    onFailure: (why) => expect.unreachable(why),
  });
  const failing = tracing.span({ name: 'place', kind: 'server', beganMsAgo: 2_000 }, () =>
    Promise.reject(new TypeError('what nobody is told')),
  );
  await expect(failing).rejects.toThrow('what nobody is told');
  await tracing.close();
  await receiver.close();
  const [span] = receiver.spans;
  expect(span).toMatchObject({ name: 'place', failed: true });
  expect((span?.endedMs ?? 0) - (span?.beganMs ?? 0)).toBeGreaterThanOrEqual(1_990);
  expect(receiver.text).toContain('TypeError');
  expect(receiver.text).not.toContain('nobody is told');
});
